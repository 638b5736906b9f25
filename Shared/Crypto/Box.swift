/// A message that only the owner of one key pair can read.
public struct Box: Hashable, Sendable {
    /// The recipient's pair.
    public let keyID: String
    /// The sender's public key, 32 bytes.
    public let sender: [UInt8]
    /// nonce ‖ ciphertext ‖ tag.
    public let sealed: [UInt8]

    init(keyID: String, sender: [UInt8], sealed: [UInt8]) {
        self.keyID = keyID
        self.sender = sender
        self.sealed = sealed
    }

    /// `1.`, key id, `.`, and sender ‖ sealed in Base64URL: ASCII that needs no escape in JSON, URLs or headers. The number
    /// is the version of the whole construction.
    public var encoded: String { "1.\(keyID).\(Base64URL.encode(sender + sealed))" }

    /// `nil` if `encoded` is not what the property of that name gives. Whether it can be opened is not known yet.
    public init?(encoded: String) {
        // By bytes: looking for where characters end takes longer than all the rest.
        let form = encoded.utf8
        let prefix = "1.".utf8
        guard form.starts(with: prefix), let dot = form.dropFirst(prefix.count).firstIndex(of: UInt8(ascii: ".")) else {
            return nil
        }
        let id = encoded[form.index(form.startIndex, offsetBy: prefix.count)..<dot]
        guard RecipientKey.isWellFormed(id: id), let bytes = Base64URL.decode(encoded[form.index(after: dot)...]),
            bytes.count >= KeyPair.count + SymmetricKey.overhead
        else { return nil }
        keyID = String(id)
        sender = Array(bytes[..<KeyPair.count])
        sealed = Array(bytes[KeyPair.count...])
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
