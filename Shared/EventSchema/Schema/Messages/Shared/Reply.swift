public import Crypto
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
        public static let accountExists = Outcome(rawValue: "ACCOUNT_EXISTS")
        public static let onboardingCompleted = Outcome(rawValue: "ONBOARDING_COMPLETED")
        public static let unauthenticated = Outcome(rawValue: "UNAUTHENTICATED")
        public static let forbidden = Outcome(rawValue: "FORBIDDEN")
        public static let invalidCredentials = Outcome(rawValue: "INVALID_CREDENTIALS")
        /// `data` says `retryAfter`, whole seconds.
        public static let rateLimited = Outcome(rawValue: "RATE_LIMITED")
        public static let refreshTokenInvalid = Outcome(rawValue: "REFRESH_TOKEN_INVALID")
        public static let resetTokenInvalid = Outcome(rawValue: "RESET_TOKEN_INVALID")

        /// What the command was checked against has changed: whoever sent it checks again. Never told to clients.
        public static let stale = Outcome(rawValue: "STALE")
    }

    public var outcome: Outcome
    /// A JSON object that the answer is made of, without secrets or personal data.
    public var data: JSON?
    /// The rest of it, sealed to the key pair of the waiting process: see `boxes`.
    public var sealed: [UInt8]?

    public init(outcome: Outcome, data: JSON? = nil, sealed: [UInt8]? = nil) {
        self.outcome = outcome
        self.data = data
        self.sealed = sealed
    }

    /// - Parameter boxes: JSON objects whose members belong into the answer, each sealed in the context
    ///   `SealingContext.reply(to:)` of the command.
    public init(outcome: Outcome, data: JSON? = nil, boxes: [Box]) {
        self.init(
            outcome: outcome, data: data,
            sealed: boxes.isEmpty ? nil : Array(boxes.map(\.encoded).joined(separator: "\n").utf8))
    }

    /// What `init(outcome:data:boxes:)` was given; `nil` where `sealed` is something else.
    public var boxes: [Box]? {
        guard let sealed else { return [] }
        var boxes: [Box] = []
        for encoded in sealed.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            guard let box = Box(encoded: String(decoding: encoded, as: UTF8.self)) else { return nil }
            boxes.append(box)
        }
        return boxes
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
