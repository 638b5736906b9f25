/// Follows the lines between client and server in one submission, and says what became of the message. Knows no I/O.
struct SMTPDialogue {
    private(set) var stage = SMTPStage.greeting
    /// The last complete reply since the stage began.
    private(set) var reply: SMTPReply?
    /// Whether the server was told that addresses are UTF-8 (RFC 6531): it has to have said that it takes such.
    private(set) var saidUTF8 = false
    /// The client has said goodbye: what follows changes nothing any more.
    private var isOver = false

    private static let stages: [(beginning: String, stage: SMTPStage)] = [
        ("EHLO ", .hello), ("HELO ", .hello), ("STARTTLS", .startTLS), ("AUTH ", .signIn), ("MAIL FROM:", .sender),
        ("RCPT TO:", .recipient), ("DATA", .data),
    ]

    /// The client has sent this line. (Of a sign-in only its beginning is looked at.)
    mutating func sent(_ line: some Collection<UInt8>) {
        guard !isOver else { return }
        let text = String(decoding: line.prefix { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
        // Before anything has happened, it is an older connection that ends.
        if text == "QUIT", stage > .greeting || reply != nil {
            isOver = true
            return
        }
        reply = nil
        guard let next = Self.stages.first(where: { text.hasPrefix($0.beginning) })?.stage else { return }
        // A sign-in goes on with lines in base64, which can look like a command without parameters.
        if stage == .signIn, next != .sender { return }
        stage = next
        if next == .sender { saidUTF8 = text.hasSuffix(" SMTPUTF8") }
    }

    mutating func received(_ line: some Collection<UInt8>) {
        guard !isOver, let (reply, isLast) = SMTPReply.parse(line), isLast else { return }
        self.reply = reply
    }

    /// The whole message has been handed over; its end is sent next.
    mutating func finished() {
        stage = .content
        reply = nil
    }

    /// - Parameter failure: what the transfer ended with; `nil`: it went well.
    func outcome(_ failure: SMTPOutcome.Failure?) -> SMTPOutcome {
        if let reply, reply.isPassing || reply.isFinal { return .refused(reply, at: stage) }
        guard stage == .content else { return failure.map { .failed($0) } ?? .unknown }
        return reply?.isAcceptance == true ? .accepted : .unknown
    }

    /// Whether it ended because the server had given up a connection that was kept for later: a new one may do.
    func isStale(_ outcome: SMTPOutcome) -> Bool {
        switch outcome {
        case .refused(let reply, _): reply.code == 421 && stage < .content
        case .failed(.disconnected): true
        case .accepted, .failed, .unknown: false
        }
    }
}
