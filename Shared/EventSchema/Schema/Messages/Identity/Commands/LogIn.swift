public import Crypto
public import JSON

/// Asks for a session, with the verdict on the password.
public struct LogIn: Message {
    public static let type = MessageType.logIn

    public var subject: Subject
    /// What the password was checked against; `nil` where there was no account.
    public var account: AccountReference?
    public var verdict: PasswordVerdict
    /// The hash of the right password at the present cost, where the stored one is of another.
    public var rehash: Ciphertext?
    /// Of the client address, for this identifier alone.
    public var address: AddressTag
    /// Of a device token of the account, where one was presented.
    public var device: Digest?
    /// The version of the profile that `person` shows; a change of it since makes the command stale.
    public var profileVersion: Int64
    /// Client address and user agent, encrypted under the user's data key.
    public var client: Ciphertext?
    /// The person's data for the answer, sealed by the check worker to the waiting gateway process.
    public var person: Box?

    public init(
        subject: Subject, account: AccountReference? = nil, verdict: PasswordVerdict, rehash: Ciphertext? = nil,
        address: AddressTag, device: Digest? = nil, profileVersion: Int64, client: Ciphertext? = nil, person: Box? = nil
    ) {
        self.subject = subject
        self.account = account
        self.verdict = verdict
        self.rehash = rehash
        self.address = address
        self.device = device
        self.profileVersion = profileVersion
        self.client = client
        self.person = person
    }

    public init(fields: Fields) throws(SchemaError) {
        subject = try fields.value("subject") { Subject($0) }
        account = try fields.optionalObject("account", AccountReference.init(fields:))
        verdict = try fields.choice("verdict")
        rehash = try fields.optional("rehash") { Ciphertext($0) }
        address = try fields.value("address") { AddressTag($0) }
        device = try fields.optional("device") { Digest($0) }
        profileVersion = try fields.integer("profileVersion", in: 0...Int64.max)
        client = try fields.optional("client") { Ciphertext($0) }
        person = try fields.optional("person") { Box(encoded: $0) }
    }

    public var json: JSON {
        [
            "subject": .string(subject.base64url),
            "account": account?.json ?? .null,
            "verdict": .string(verdict.rawValue),
            "rehash": .text(rehash?.base64url),
            "address": .string(address.base64url),
            "device": .text(device?.base64url),
            "profileVersion": .integer(profileVersion),
            "client": .text(client?.base64url),
            "person": .text(person?.encoded),
        ]
    }
}
