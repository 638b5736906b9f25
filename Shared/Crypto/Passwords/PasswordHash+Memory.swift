extension PasswordHash {
    /// Gives the memory of new hashes back to the system, where none was made in it for so long. To be called now and then: what a
    /// hash leaves in it makes it cheap to guess the password.
    public static func releaseMemory(unusedFor duration: Duration) { HashMemory.shared.release(unusedFor: duration) }

    /// Whether the last new hash was made in memory that is kept; `false` where libsodium maps its memory by another way than it did.
    public static var keepsMemory: Bool { HashMemory.shared.isTaken }
}
