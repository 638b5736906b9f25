import Crypto
public import EventSchema
public import HTTP
public import Runtime

/// The way of a command to its owner, and of the answer back.
public protocol CommandPath: Sendable {
    /// Sends a command and waits for the reply.
    ///
    /// Throws `LogError.unavailable` where the log is away, and `HTTPFailure.timeout` when the task was cancelled because the
    /// request's deadline has passed: the outcome is unknown then.
    func ask(_ command: OutgoingCommand) async throws -> Response
}

/// A command before it is a record.
public struct OutgoingCommand: Sendable {
    public var message: any Message
    public var subject: Subject
    public var identity: CommandIdentity
    public var client: ClientDetails
    public var trace: TraceContext
    /// The command is dropped where it arrives after this.
    public var deadline: ContinuousClock.Instant
    /// What the client is told.
    public var answer: @Sendable (Reply) -> Response

    public init(
        _ message: any Message, about subject: Subject, for request: Request, _ context: RequestContext,
        answer: @escaping @Sendable (Reply) -> Response
    ) {
        self.message = message
        self.subject = subject
        identity = context[Commands.self] ?? CommandIdentity()
        client = ClientDetails(request, context)
        trace = context.trace.child()
        deadline = context.deadline
        self.answer = answer
    }

    /// What a reply without data of its own is to the client: success, or the error of its outcome.
    public static func plainly(_ success: Response) -> @Sendable (Reply) -> Response {
        { reply in ErrorCode(reply.outcome).map { APIError($0).response } ?? success }
    }
}

/// Who asks: sealed to Identity on the way.
public struct ClientDetails: Hashable, Sendable {
    public var address: IPAddress
    public var userAgent: String?

    /// A longer one is cut: it ends up in lists of sessions and devices.
    static let userAgentLimit = 256

    public init(address: IPAddress, userAgent: String?) {
        self.address = address
        self.userAgent = userAgent.map { String($0.unicodeScalars.prefix(Self.userAgentLimit)) }
    }

    init(_ request: Request, _ context: RequestContext) {
        self.init(address: context[ClientAddress.self] ?? request.peer, userAgent: request.headers["User-Agent"])
    }
}
