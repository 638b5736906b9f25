/// What became of a message that was to be submitted.
public enum SMTPOutcome: Equatable, Sendable {
    /// The server has taken it over.
    case accepted
    /// The server said no: it certainly did not take it.
    case refused(SMTPReply, at: SMTPStage)
    /// It certainly was not taken, for another reason.
    case failed(Failure)
    /// All of it was sent, and no answer came: it may have been taken.
    case unknown

    public enum Failure: String, Sendable {
        /// The name is unknown, or nobody listens there.
        case unreachable
        /// No answer in time.
        case timedOut = "timed_out"
        /// The connection broke, or what came was not SMTP.
        case disconnected
        /// There is no TLS, or the certificate is not accepted.
        case insecure
        /// Client and server have no way to sign in in common.
        case noSignIn = "no_sign_in"
        /// The address is not ASCII, and the server does not take such (RFC 6531).
        case addressUnsupported = "address_unsupported"
        /// The address is none, or could be taken for something else.
        case addressInvalid = "address_invalid"
        /// The message's time was over before the server wanted it.
        case late
        /// The file of authorities cannot be read, or a setting is not understood.
        case misconfigured
    }
}

/// How far a dialogue has come (RFC 5321).
public enum SMTPStage: Int, Comparable, Sendable, CustomStringConvertible {
    case greeting, hello, startTLS, signIn, sender, recipient, data
    /// The message was sent, and its end.
    case content

    public static func < (left: SMTPStage, right: SMTPStage) -> Bool { left.rawValue < right.rawValue }

    public var description: String {
        switch self {
        case .greeting: "greeting"
        case .hello: "hello"
        case .startTLS: "starttls"
        case .signIn: "sign-in"
        case .sender: "sender"
        case .recipient: "recipient"
        case .data: "data"
        case .content: "content"
        }
    }
}
