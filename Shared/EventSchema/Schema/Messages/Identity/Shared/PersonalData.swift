import JSON

/// What is kept of a person, encrypted under one data key. With the key, all of it is gone.
public struct PersonalData: Hashable, Sendable {
    /// Whose row was committed before any message named it.
    public var dataKey: DataKeyID
    /// The canonical address or number.
    public var identifier: Ciphertext
    /// A PHC string.
    public var passwordHash: Ciphertext
    /// The profile as a JSON object; `nil` for an empty one.
    public var profile: Ciphertext?

    public init(dataKey: DataKeyID, identifier: Ciphertext, passwordHash: Ciphertext, profile: Ciphertext? = nil) {
        self.dataKey = dataKey
        self.identifier = identifier
        self.passwordHash = passwordHash
        self.profile = profile
    }

    init(fields: Fields) throws(SchemaError) {
        dataKey = try fields.value("dataKey") { DataKeyID($0) }
        identifier = try fields.value("identifier") { Ciphertext($0) }
        passwordHash = try fields.value("passwordHash") { Ciphertext($0) }
        profile = try fields.optional("profile") { Ciphertext($0) }
    }

    var json: JSON {
        [
            "dataKey": .string(dataKey.text),
            "identifier": .string(identifier.base64url),
            "passwordHash": .string(passwordHash.base64url),
            "profile": .text(profile?.base64url),
        ]
    }
}
