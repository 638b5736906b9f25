internal import EventSchema

/// An e-mail as RFC 5322 and MIME (RFC 2045, 2046) have it: one text, plain and as HTML. The same message is the same bytes,
/// whenever it is rendered.
struct MailMessage: Sendable {
    var id: MessageID
    var sender: MailAddress
    /// Canonical.
    var recipient: String
    var subject: String
    var text: String
    var html: String?
    var locale: LanguageTag
    var date: Timestamp

    /// Lines end with CR LF and are at most 998 bytes long; outside of addresses all of it is ASCII.
    func rendered() -> [UInt8] {
        var lines = [
            "From: \(Self.mailbox(sender))", "To: <\(recipient)>", "Subject: \(EncodedText.header(subject, after: 9))",
            "Date: \(Self.date(date))", "Message-ID: <\(id.text)@\(sender.domain)>", "MIME-Version: 1.0",
            "Content-Language: \(locale.text)",
            // RFC 3834: nobody is to answer it by a machine.
            "Auto-Submitted: auto-generated",
        ]
        if let html {
            // Quoted-printable never holds an equals sign before a low line.
            let boundary = "=_\(id.text)"
            lines += ["Content-Type: multipart/alternative; boundary=\"\(boundary)\"", ""]
            lines += ["--\(boundary)"] + Self.part("plain", text)
            lines += ["--\(boundary)"] + Self.part("html", html)
            lines.append("--\(boundary)--")
        } else {
            lines += Self.part("plain", text)
        }
        return Array((lines.joined(separator: "\r\n") + "\r\n").utf8)
    }

    private static func part(_ kind: String, _ text: String) -> [String] {
        [
            "Content-Type: text/\(kind); charset=utf-8", "Content-Transfer-Encoding: quoted-printable", "",
            EncodedText.quotedPrintable(text),
        ]
    }

    private static func mailbox(_ address: MailAddress) -> String {
        guard let name = address.name else { return "<\(address.address)>" }
        guard name.utf8.allSatisfy({ 0x20...0x7e ~= $0 }), name.utf8.count <= 64 else {
            return "\(EncodedText.header(name, after: 6)) <\(address.address)>"
        }
        // A quoted text: what has a meaning in one is escaped.
        let quoted = name.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }.joined()
        return "\"\(quoted)\" <\(address.address)>"
    }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]

    /// RFC 5322, section 3.3, in UTC: `Fri, 15 Jan 2027 08:00:00 +0000`.
    static func date(_ time: Timestamp) -> String {
        // 2027-01-15T08:00:00.000Z
        let text = Array(time.rfc3339)
        let month = Int(String(text[5..<7])).map { months[$0 - 1] } ?? ""
        let day = time.milliseconds >= 0 ? time.milliseconds / 86_400_000 : (time.milliseconds - 86_399_999) / 86_400_000
        let weekday = days[Int((day % 7 + 7) % 7)]
        return "\(weekday), \(String(text[8..<10])) \(month) \(String(text[..<4])) \(String(text[11..<19])) +0000"
    }
}
