/// A message that only the owner of one key pair can read. Most who have one pass it on: it is kept as it is written.
public struct Box: Hashable, Sendable {
    /// `1.`, key id, `.`, and sender ‖ sealed in Base64URL: ASCII that needs no escape in JSON, URLs or headers. The number
    /// is the version of the whole construction.
    public let encoded: String

    private static let version = "1."

    /// - Parameters:
    ///   - keyID: the recipient's pair.
    ///   - sender: the sender's public key, 32 bytes.
    ///   - sealed: nonce ‖ ciphertext ‖ tag.
    init(keyID: String, sender: [UInt8], sealed: [UInt8]) {
        encoded = "\(Self.version)\(keyID).\(Base64URL.encode(sender + sealed))"
    }

    /// `nil` if `encoded` is not what the property of that name gives. Whether it can be opened is not known yet.
    public init?(encoded: String) {
        guard encoded.utf8.starts(with: Self.version.utf8), let (id, message) = Self.parts(of: encoded),
            RecipientKey.isWellFormed(id: id), let count = Base64URL.count(of: message),
            count >= KeyPair.count + SymmetricKey.overhead
        else { return nil }
        self.encoded = encoded
    }

    /// The recipient's pair.
    public var keyID: String { Self.parts(of: encoded).map { String($0.id) } ?? "" }

    /// The sender's public key, 32 bytes, and nonce ‖ ciphertext ‖ tag.
    var message: (sender: [UInt8], sealed: [UInt8]) {
        let bytes = Self.parts(of: encoded).flatMap { Base64URL.decode($0.message) } ?? []
        return (Array(bytes.prefix(KeyPair.count)), Array(bytes.dropFirst(KeyPair.count)))
    }

    /// By bytes: looking for where characters end takes longer than all the rest.
    private static func parts(of encoded: String) -> (id: Substring, message: Substring)? {
        let form = encoded.utf8
        let start = form.index(form.startIndex, offsetBy: version.utf8.count)
        guard let dot = form[start...].firstIndex(of: UInt8(ascii: ".")) else { return nil }
        return (encoded[start..<dot], encoded[form.index(after: dot)...])
    }

    /// What is authenticated with the message: the direction (so that nothing sent back to its sender opens), the pair's
    /// name, and the caller's context. Each part before the last says how long it is.
    static func associatedData(keyID: String, sender: [UInt8], context: [UInt8]) -> [UInt8] {
        var data: [UInt8] = []
        data.reserveCapacity(1 + keyID.utf8.count + sender.count + context.count)
        data.append(UInt8(keyID.utf8.count))
        data.append(contentsOf: keyID.utf8)
        data.append(contentsOf: sender)
        data.append(contentsOf: context)
        return data
    }
}
