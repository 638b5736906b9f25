/// Why a rebuild cannot go on, for the operator.
public struct RebuildError: Error, Hashable, Sendable, CustomStringConvertible {
    public var description: String

    init(_ description: String) { self.description = description }
}
