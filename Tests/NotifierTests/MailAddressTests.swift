import Testing

@testable import NotifierService

@Suite struct MailAddressTests {
    @Test(
        arguments: [
            ("no-reply@example.com", nil, "no-reply@example.com"), ("<a@b.example>", nil, "a@b.example"),
            ("Latchkey <no-reply@example.com>", "Latchkey", "no-reply@example.com"),
            ("\"Latch, key\" <a+b@example.com>", "Latch, key", "a+b@example.com"),
            ("Schlüssel <a@localhost>", "Schlüssel", "a@localhost"),
        ] as [(String, String?, String)])
    func `name and address are read`(text: String, name: String?, address: String) throws {
        let read = try #require(MailAddress(text))
        #expect(read.name == name)
        #expect(read.address == address)
    }

    @Test(
        arguments: [
            "", "a", "@b", "a@", "a@b@c", "a b@c", "a@b, c@d", "a@b\r\nBcc: c@d", "X\r\nBcc: c@d <a@b>", "X <a@b> <c@d>",
            "X <a@b>, c@d",
            "a@bücher.example", ".a@b", "a..b@c", "a@b..c", "a@-\u{7f}", "X\" <a@b>",
        ])
    func `what is no address, or more than one, is refused`(text: String) {
        #expect(MailAddress(text) == nil)
    }
}
