import Crypto
public import JSON

/// Answers the gateway process that waits for a command.
public struct Reply: Message {
    public static let type = MessageType.reply

    /// `ok`, or a code of the HTTP contract's errors.
    public struct Outcome: RawRepresentable, Hashable, Sendable {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        public static let ok = Outcome(rawValue: "ok")
        public static let invalidOTP = Outcome(rawValue: "INVALID_OTP")
        public static let maxAttemptsExceeded = Outcome(rawValue: "MAX_ATTEMPTS_EXCEEDED")
        public static let notFound = Outcome(rawValue: "NOT_FOUND")
    }

    public var outcome: Outcome
    /// A JSON object that the answer is made of, without secrets or personal data.
    public var data: JSON?
    /// The rest of it, sealed to the key pair of the waiting process.
    public var sealed: [UInt8]?

    public init(outcome: Outcome, data: JSON? = nil, sealed: [UInt8]? = nil) {
        self.outcome = outcome
        self.data = data
        self.sealed = sealed
    }

    public init(fields: Fields) throws(SchemaError) {
        outcome = Outcome(rawValue: try fields.string("outcome"))
        data = try fields.optionalJSON("data")
        sealed = try fields.optional("sealed") { Base64URL.decode($0) }
    }

    public var json: JSON {
        [
            "outcome": .string(outcome.rawValue),
            "data": data ?? .null,
            "sealed": .text(sealed.map { Base64URL.encode($0) }),
        ]
    }
}
