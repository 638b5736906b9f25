/// A published public key: whom to seal to.
public struct RecipientKey: Hashable, Sendable {
    /// Names the pair to its owner: 1–64 characters of `A-Za-z0-9_-:`. Checked when it is used.
    public var id: String
    /// X25519, 32 bytes. Checked when it is used.
    public var publicKey: [UInt8]

    public init(id: String, publicKey: [UInt8]) {
        self.id = id
        self.publicKey = publicKey
    }

    static func isWellFormed(id: some StringProtocol) -> Bool {
        (1...64).contains(id.utf8.count)
            && id.unicodeScalars.allSatisfy { scalar in
                switch scalar {
                case "a"..."z", "A"..."Z", "0"..."9", "_", "-", ":": true
                default: false
                }
            }
    }
}
