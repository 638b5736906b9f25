public import Crypto

/// Where the answer to a command goes, and who alone can open it: the header `ce_replyto`.
public struct ReplyAddress: Hashable, Sendable {
    /// The name of the header that carries it.
    public static let header = "ce_replyto"

    /// The partition of `replies` that the gateway process reads.
    public var partition: UInt16
    /// The process, 16 bytes: others that read the same partition pass over its replies.
    public var process: [UInt8]
    /// The public half of the X25519 pair that exists in the waiting process only, 32 bytes.
    public var publicKey: [UInt8]
    /// The waiting request, 16 bytes.
    public var request: [UInt8]

    public init(partition: UInt16, process: [UInt8], publicKey: [UInt8], request: [UInt8]) {
        precondition(
            process.count == 16 && publicKey.count == 32 && request.count == 16, "a part of a reply address has another length")
        self.partition = partition
        self.process = process
        self.publicKey = publicKey
        self.request = request
    }

    /// Reads what `encoded` gives. `nil` for anything else.
    public init?(encoded: String) { self.init(encoded: Array(encoded.utf8)) }

    /// The same for the bytes of the text.
    public init?(encoded: [UInt8]) {
        guard let bytes = Base64URL.decode(encoded), bytes.count == 66 else { return nil }
        self.init(
            partition: UInt16(bytes[0]) << 8 | UInt16(bytes[1]), process: Array(bytes[2..<18]), publicKey: Array(bytes[18..<50]),
            request: Array(bytes[50..<66]))
    }

    /// What the pair of a waiting process is called in the boxes that are sealed to it.
    public static let recipientID = "reply"

    /// Whom the secret part of the answer is sealed to, in the context `SealingContext.reply(to:)` of the command.
    public var recipient: RecipientKey { RecipientKey(id: Self.recipientID, publicKey: publicKey) }

    /// 2 + 16 + 32 + 16 bytes as 88 characters of base64url.
    public var encoded: String {
        Base64URL.encode([UInt8(partition >> 8), UInt8(partition & 0xff)] + process + publicKey + request)
    }
}
