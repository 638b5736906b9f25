/// What somebody else says that a chain has held: an earlier proof, a chain that read this one, or a projection of it.
struct ChainExpectation: Equatable, Sendable {
    var sequence: Int64
    var hash: [UInt8]
    /// Where the event stood.
    var offset: Int64
    /// Who says so, as the beginning of a sentence.
    var witness: String
}
