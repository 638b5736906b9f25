import JSON
import Testing

@testable import GatewayService

@Suite struct `A new password` {
    @Test(
        arguments: [
            ("Correct-Horse-7", []), ("Pässwörter 1", []), ("ПарольПароль٣", []), (String(repeating: "Aa1", count: 341), []),
            ("", [.long, .upperCase, .lowerCase, .digit]), ("aB3", [.long]), ("abcdefg8", [.upperCase]),
            ("ABCDEFG8", [.lowerCase]),
            ("Abcdefgh", [.digit]), ("Password1", [.notCommon]), ("PASSword1", [.notCommon]),
            ("password", [.upperCase, .digit, .notCommon]), ("User1@example.com", [.notTheAddress]),
            ("USER1@Example.COM", [.lowerCase, .notTheAddress].filter { $0 == .notTheAddress }),
            (String(repeating: "Aa1", count: 342), [.notTooLong]),
            // Seven scalars, though more bytes.
            ("Ää1ÄäÄä", [.long]),
        ] as [(String, [PasswordRule])])
    func `has a message for each rule that it misses`(password: String, missed: [PasswordRule]) {
        #expect(PasswordRule.missed(by: password, email: "user1@example.com") == missed)
    }

    @Test func `is composed, whatever it came as`() throws {
        var reader = try FieldReader(["a": "A\u{30a}ngstr\u{6f}\u{308}m 1x", "b": "\u{212b}ngstr\u{f6}m 1x"])
        let (one, other) = (reader.newPassword("a"), reader.newPassword("b"))
        #expect(one == Array("\u{c5}ngstr\u{f6}m 1x".utf8))
        #expect(one == other)
        #expect(reader.faults.isEmpty)
    }

    @Test(arguments: ["Nul\u{0}Byte12345", "1"]) func `that is wrong is a fault of its field`(password: String) throws {
        var reader = try FieldReader(["password": .string(password)])
        #expect(reader.newPassword("password") == nil)
        #expect(Set(reader.faults.map(\.path)) == ["password"])
    }
}
