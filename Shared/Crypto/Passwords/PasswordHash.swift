/// What is kept of a password: a salted, slow hash and how it was made, in one text.
///
/// New ones are argon2id in the PHC string format. Those of other systems are understood so that their users can come along:
///
/// | scheme | texts |
/// |---|---|
/// | argon2id, argon2i, argon2d | PHC: `$argon2id$v=19$m=65536,t=3,p=4$salt$hash` |
/// | bcrypt | `$2a$`, `$2b$` and `$2y$` |
/// | scrypt | PHC: `$scrypt$ln=15,r=8,p=1$salt$hash`; Werkzeug: `scrypt:32768:8:1$salt$hex` |
/// | PBKDF2 with SHA-1, SHA-256, SHA-512 | PHC: `$pbkdf2-sha256$i=600000,l=32$salt$hash`; Passlib: `$pbkdf2-sha256$29000$salt$hash`; Django: `pbkdf2_sha256$600000$salt$base64`; Werkzeug: `pbkdf2:sha256:600000$salt$hex` |
///
/// What would take more than 256 MiB or several seconds is refused: a hash is checked as often as somebody tries to sign in.
public struct PasswordHash: Sendable {
    enum Scheme: Hashable, Sendable {
        case argon2(Argon2.Parameters)
        case bcrypt
        case scrypt(Scrypt.Parameters)
        case pbkdf2(PBKDF2.Parameters)
    }

    /// As it is stored. It is a secret: whoever has it can try passwords.
    public let text: String
    let scheme: Scheme
    let salt: [UInt8]
    let hash: [UInt8]

    init(text: String, scheme: Scheme, salt: [UInt8], hash: [UInt8]) {
        self.text = text
        self.scheme = scheme
        self.salt = salt
        self.hash = hash
    }

    /// `nil` for a text in none of these forms, and for a cost out of bounds.
    public init?(_ text: String) {
        // Which form it has shows at its beginning; an unknown one is in none of them.
        guard text.utf8.count <= 1_024,
            let read = Argon2.read(text) ?? Bcrypt.read(text) ?? Scrypt.read(text) ?? PBKDF2.read(text)
        else { return nil }
        self = read
    }

    /// A new argon2id hash with 16 bytes of salt and 32 bytes of hash. Takes as long as the settings say.
    ///
    /// - Parameter password: in the form that is always checked: UTF-8, NFC.
    /// - Throws: `.outOfMemory`.
    public static func make(
        _ password: [UInt8], _ settings: Argon2Settings = Argon2Settings()
    ) throws(CryptoError) -> PasswordHash {
        try make(password, settings, salt: Random.bytes(16))
    }

    static func make(_ password: [UInt8], _ settings: Argon2Settings, salt: [UInt8]) throws(CryptoError) -> PasswordHash {
        let parameters = Argon2.Parameters(memory: settings.memory, passes: settings.passes)
        HashMemory.shared.keep(parameters.usedMemory)
        guard let hash = Argon2.hash(password, salt: salt, parameters, count: 32) else { throw .outOfMemory }
        return PasswordHash(
            text: Argon2.text(parameters, salt: salt, hash: hash), scheme: .argon2(parameters), salt: salt, hash: hash)
    }

    /// Whether this is the password. Takes as long as making the hash did; the answer does not show in the time.
    ///
    /// - Throws: `.outOfMemory`.
    public func matches(_ password: [UInt8]) throws(CryptoError) -> Bool {
        let computed: [UInt8]?
        switch scheme {
        case .argon2(let parameters): computed = Argon2.hash(password, salt: salt, parameters, count: hash.count)
        case .bcrypt: computed = try Bcrypt.hash(password, setting: text)
        case .scrypt(let parameters): computed = Scrypt.hash(password, salt: salt, parameters, count: hash.count)
        case .pbkdf2(let parameters): computed = PBKDF2.hash(password, salt: salt, parameters, count: hash.count)
        }
        guard let computed else { throw .outOfMemory }
        return constantTimeEquals(computed, hash)
    }

    /// Whether a password that turned out to be right should be hashed anew: with another scheme, or at another cost.
    public func needsRehash(_ settings: Argon2Settings) -> Bool {
        scheme != .argon2(Argon2.Parameters(memory: settings.memory, passes: settings.passes)) || hash.count != 32
            || salt.count != 16
    }
}

extension PasswordHash: CustomStringConvertible, CustomReflectable {
    public var description: String { "***" }
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
