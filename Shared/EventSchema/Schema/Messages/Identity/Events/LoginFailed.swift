public import JSON

/// A login failed, for an identifier with or without an account. It counts against the budgets of the identifier and of
/// the client address there; from a device of the account against that device's alone.
public struct LoginFailed: Message {
    public static let type = MessageType.loginFailed

    public var subject: Subject
    /// Who has the identifier.
    public var user: UserID?
    /// Of the client address, for this identifier alone.
    public var address: AddressTag
    public var device: Digest?
    public var ofIdentifier: FailedLogins?
    public var ofAddress: FailedLogins?
    public var ofDevice: FailedLogins?
    /// Seconds for which everybody else is blocked; `nil` where nobody is.
    public var retryAfter: Int64?

    public init(
        subject: Subject, user: UserID? = nil, address: AddressTag, device: Digest? = nil, ofIdentifier: FailedLogins? = nil,
        ofAddress: FailedLogins? = nil, ofDevice: FailedLogins? = nil, retryAfter: Int64? = nil
    ) {
        self.subject = subject
        self.user = user
        self.address = address
        self.device = device
        self.ofIdentifier = ofIdentifier
        self.ofAddress = ofAddress
        self.ofDevice = ofDevice
        self.retryAfter = retryAfter
    }

    public init(fields: Fields) throws(SchemaError) {
        subject = try fields.value("subject") { Subject($0) }
        user = try fields.optional("user") { UserID($0) }
        address = try fields.value("address") { AddressTag($0) }
        device = try fields.optional("device") { Digest($0) }
        ofIdentifier = try fields.optionalObject("ofIdentifier", FailedLogins.init(fields:))
        ofAddress = try fields.optionalObject("ofAddress", FailedLogins.init(fields:))
        ofDevice = try fields.optionalObject("ofDevice", FailedLogins.init(fields:))
        retryAfter = try fields.optionalInteger("retryAfter", in: 0...Int64.max)
    }

    public var json: JSON {
        [
            "subject": .string(subject.base64url),
            "user": .text(user?.text),
            "address": .string(address.base64url),
            "device": .text(device?.base64url),
            "ofIdentifier": ofIdentifier?.json ?? .null,
            "ofAddress": ofAddress?.json ?? .null,
            "ofDevice": ofDevice?.json ?? .null,
            "retryAfter": retryAfter.map { .integer($0) } ?? .null,
        ]
    }
}
