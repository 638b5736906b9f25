extension PasswordHash {
    /// Whether the last new hash was made in memory that is kept; `false` where libsodium maps its memory by another way than it did.
    public static var keepsMemory: Bool { HashMemory.shared.isTaken }
}
