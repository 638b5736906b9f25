import EventSchema
import Foundation
import Testing

@testable import NotifierService

@Suite struct MailMessageTests {
    private let noon = Timestamp(milliseconds: 1_800_000_000_000)

    private func message(_ change: (inout MailMessage) -> Void = { _ in }) -> MailMessage {
        var message = MailMessage(
            id: MessageID("01234567-89ab-4def-8123-456789abcdef")!, sender: MailAddress("Latchkey <no-reply@example.com>")!,
            recipient: "user@example.org", subject: "Your code", text: "Code: 012345\n\nBye", html: "<p>012345</p>",
            locale: LanguageTag("en")!, date: noon)
        change(&message)
        return message
    }

    private func text(_ message: MailMessage) -> String { String(decoding: message.rendered(), as: UTF8.self) }

    private func field(_ name: String, of message: MailMessage) -> String? {
        let head = text(message).split(separator: "\r\n\r\n", maxSplits: 1)[0].replacing("\r\n ", with: " ")
        return head.split(separator: "\r\n").first { $0.hasPrefix(name + ": ") }.map { String($0.dropFirst(name.count + 2)) }
    }

    @Test func `a message is two forms of one text`() {
        let boundary = "=_01234567-89ab-4def-8123-456789abcdef"
        #expect(
            text(message()) == """
                From: "Latchkey" <no-reply@example.com>\r
                To: <user@example.org>\r
                Subject: Your code\r
                Date: Fri, 15 Jan 2027 08:00:00 +0000\r
                Message-ID: <01234567-89ab-4def-8123-456789abcdef@example.com>\r
                MIME-Version: 1.0\r
                Content-Language: en\r
                Auto-Submitted: auto-generated\r
                Content-Type: multipart/alternative; boundary="\(boundary)"\r
                \r
                --\(boundary)\r
                Content-Type: text/plain; charset=utf-8\r
                Content-Transfer-Encoding: quoted-printable\r
                \r
                Code: 012345\r
                \r
                Bye\r
                --\(boundary)\r
                Content-Type: text/html; charset=utf-8\r
                Content-Transfer-Encoding: quoted-printable\r
                \r
                <p>012345</p>\r
                --\(boundary)--\r

                """)
    }

    @Test func `without HTML it is text alone`() {
        let plain = text(message { $0.html = nil })
        #expect(plain.hasSuffix("\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nCode: 012345\r\n\r\nBye\r\n"))
        #expect(!plain.contains("multipart"))
    }

    @Test func `nothing that is filled in begins a header field`() {
        let message = message {
            $0.subject = "x\r\nBcc: other@example.com"
            $0.sender.name = "y\r\nBcc: other@example.com"
            $0.text = "z\n\nBcc: other@example.com"
        }
        let head = text(message).split(separator: "\r\n\r\n", maxSplits: 1)[0]
        let names = head.split(separator: "\r\n").filter { !$0.hasPrefix(" ") }.map { $0.prefix { $0 != ":" } }
        #expect(
            names == [
                "From", "To", "Subject", "Date", "Message-ID", "MIME-Version", "Content-Language", "Auto-Submitted",
                "Content-Type",
            ])
    }

    @Test func `names are quoted, or encoded where they are not ASCII`() {
        #expect(field("From", of: message { $0.sender.name = "A \\ \"B\"" }) == #""A \\ \"B\"" <no-reply@example.com>"#)
        #expect(
            field("From", of: message { $0.sender.name = "Schlüssel" }) == "=?UTF-8?Q?Schl=C3=BCssel?= <no-reply@example.com>")
        #expect(field("From", of: message { $0.sender.name = nil }) == "<no-reply@example.com>")
    }

    @Test func `only an address in another script is not ASCII`() {
        let ascii = message {
            $0.subject = "Schlüssel"
            $0.text = "ä"
            $0.html = "<p>ה</p>"
        }
        #expect(ascii.rendered().allSatisfy { $0 < 0x80 })
        #expect(field("To", of: message { $0.recipient = "jörg@example.org" }) == "<jörg@example.org>")
    }

    @Test(
        arguments: [
            (0, "Thu, 01 Jan 1970 00:00:00 +0000"), (951_782_400_000, "Tue, 29 Feb 2000 00:00:00 +0000"),
            (1_798_761_599_999, "Thu, 31 Dec 2026 23:59:59 +0000"), (-1, "Wed, 31 Dec 1969 23:59:59 +0000"),
        ] as [(Int64, String)])
    func `dates are written as mail has them`(milliseconds: Int64, text: String) {
        #expect(MailMessage.date(Timestamp(milliseconds: milliseconds)) == text)
    }

    @Test func `a message is the same bytes each time`() {
        #expect(message().rendered() == message().rendered())
    }
}
