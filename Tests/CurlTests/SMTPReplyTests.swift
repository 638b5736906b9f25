import Testing

@testable import Curl

@Suite struct SMTPReplyTests {
    @Test(
        arguments: [
            ("250 2.1.5 ok", SMTPReply(250, "2.1.5"), true), ("250-mail.test\r\n", SMTPReply(250), false),
            ("354", SMTPReply(354), true),
            ("550 5.7.1 <user@example.com>: no", SMTPReply(550, "5.7.1"), true), ("421 4.4.2", SMTPReply(421, "4.4.2"), true),
            ("550 no 5.1.1", SMTPReply(550), true), ("451 4.7.1234 x", SMTPReply(451), true),
            ("220 10.0.0.1 hello", SMTPReply(220), true),
        ] as [(String, SMTPReply, Bool)])
    func `a line gives code and status, and nothing of its text`(line: String, reply: SMTPReply, isLast: Bool) throws {
        let parsed = try #require(SMTPReply.parse(Array(line.utf8)))
        #expect(parsed.reply == reply)
        #expect(parsed.isLast == isLast)
    }

    @Test(arguments: ["", "25", "HTTP/1.1 200 OK", "650 x", "150 x", "2500", "25a ok"])
    func `what is no reply gives none`(line: String) {
        #expect(SMTPReply.parse(Array(line.utf8)) == nil)
    }
}
