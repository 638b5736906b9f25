/// What shows that an identifier is that of who signs up with it.
public enum SignUpProof: String, Sendable, CaseIterable {
    case none
    /// A confirmation shortly before. It proves the address, not that the password is its owner's.
    case flag
    /// The code of the same request: it proves the password, too.
    case code
}
