import JSON

/// An account as it was looked up: a code or token that carries the reference is void once the credential has changed.
public struct AccountReference: Hashable, Sendable {
    public var user: UserID
    /// 0 or more; grows with every change of the credential.
    public var credentialVersion: Int64

    public init(user: UserID, credentialVersion: Int64) {
        self.user = user
        self.credentialVersion = credentialVersion
    }

    init(fields: Fields) throws(SchemaError) {
        user = try fields.value("user") { UserID($0) }
        credentialVersion = try fields.integer("credentialVersion", in: 0...Int64.max)
    }

    var json: JSON { ["user": .string(user.text), "credentialVersion": .integer(credentialVersion)] }
}
