public import JSON

/// A login failed, for an identifier with or without an account. It counts against the budgets.
public struct LoginFailed: Message {
    public static let type = MessageType.loginFailed

    public var subject: Subject
    /// Who has the identifier.
    public var user: UserID?
    /// Whose budget it counts in, too.
    public var address: AddressTag
    /// The account's device in whose budget it counts alone.
    public var device: Digest?
    /// Seconds for which everybody else is blocked; `nil` where nobody is.
    public var retryAfter: Int64?

    public init(subject: Subject, user: UserID? = nil, address: AddressTag, device: Digest? = nil, retryAfter: Int64? = nil) {
        self.subject = subject
        self.user = user
        self.address = address
        self.device = device
        self.retryAfter = retryAfter
    }

    public init(fields: Fields) throws(SchemaError) {
        subject = try fields.value("subject") { Subject($0) }
        user = try fields.optional("user") { UserID($0) }
        address = try fields.value("address") { AddressTag($0) }
        device = try fields.optional("device") { Digest($0) }
        retryAfter = try fields.optionalInteger("retryAfter", in: 0...Int64.max)
    }

    public var json: JSON {
        [
            "subject": .string(subject.base64url),
            "user": .text(user?.text),
            "address": .string(address.base64url),
            "device": .text(device?.base64url),
            "retryAfter": retryAfter.map { .integer($0) } ?? .null,
        ]
    }
}
