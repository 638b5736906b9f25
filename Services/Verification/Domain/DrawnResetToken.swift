public import EventSchema

/// A reset token that was drawn for a command before it was decided. Most are used, some are not (a wrong code).
public struct DrawnResetToken: Hashable, Sendable {
    public let digest: Digest
    /// The token itself, sealed to the waiting gateway process; `nil` where nobody waits.
    public let reply: SealedBox?

    public init(digest: Digest, reply: SealedBox?) {
        self.digest = digest
        self.reply = reply
    }
}
