/// Where requests with an `Idempotency-Key` and their answers are kept, for all gateways together.
public protocol AnswerStore: Sendable {
    /// Finds the request, or makes it known before anything is done for it. Whoever gets `.mine` works on its answer, and is
    /// alone in that for as long as `lease`.
    ///
    /// - Parameter names: what the request is called under each secret that is held. It is found under any of them, and made
    ///   known under the first one. Of two that hold the same secrets, in whatever order, one finds what the other made known.
    /// - Precondition: there is a name.
    func claim(_ names: [RequestName], lease: Duration) async throws -> Claim

    /// Keeps the first answer and gives the one that is kept, which may be another's.
    func keep(_ answer: [UInt8], for hold: Hold) async throws -> [UInt8]

    /// Ends the work without an answer: the next one may begin at once.
    func release(_ hold: Hold, _ trace: Trace) async throws
}

/// What a request without an answer leaves behind.
public enum Trace: Hashable, Sendable {
    /// Nothing was ever sent for it: it is forgotten altogether.
    case nothing
    /// Whatever was sent for it was refused, for good: whoever gets it again sends other commands.
    case refusals
    /// Something that may have had its effects: whoever gets it again sends the same commands.
    case commands
}

/// What a request is called under one secret.
public struct RequestName: Hashable, Sendable {
    /// Says which request it is, 32 bytes.
    public var scope: [UInt8]
    /// Tells one body from another, 32 bytes.
    public var body: [UInt8]

    public init(scope: [UInt8], body: [UInt8]) {
        self.scope = scope
        self.body = body
    }
}

public enum Claim: Hashable, Sendable {
    case mine(Hold)
    /// Its sealed answer, and which of its names it is known by.
    case answered([UInt8], scope: [UInt8])
    /// Somebody else works on it.
    case held
    /// The key was used with another body.
    case otherBody
}

/// The right to work on the answer of one request.
public struct Hold: Hashable, Sendable {
    public var scope: [UInt8]
    /// Drawn once for each request; whoever works on it again gets the same, unless all was refused.
    public var nonce: [UInt8]
    /// Drawn for each hold.
    public var holder: [UInt8]
    /// Whether nobody has worked on the request before.
    public var isFirst: Bool
    /// How much longer the request is remembered.
    public var remaining: Duration

    public init(scope: [UInt8], nonce: [UInt8], holder: [UInt8], isFirst: Bool, remaining: Duration) {
        self.scope = scope
        self.nonce = nonce
        self.holder = holder
        self.isFirst = isFirst
        self.remaining = remaining
    }
}
