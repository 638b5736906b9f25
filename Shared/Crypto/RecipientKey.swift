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

    /// Whether boxes can name a pair so.
    public static func isWellFormed(id: some StringProtocol) -> Bool {
        (1...64).contains(id.utf8.count)
            && id.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: ":"): true
                default: false
                }
            }
    }
}
