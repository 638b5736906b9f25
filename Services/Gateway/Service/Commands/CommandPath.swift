import Crypto
public import EventSchema
public import HTTP
public import Runtime

/// The way of a command to its owner, and of the answer back.
public protocol CommandPath: Sendable {
    /// Sends a command and waits for the reply. What was sealed to this process stands in its data, opened.
    ///
    /// Throws `LogError.unavailable` where the log is away, and `HTTPFailure.timeout` when the task was cancelled because the
    /// request's deadline has passed: the outcome is unknown then.
    func reply(to command: OutgoingCommand) async throws -> Reply
}

extension CommandPath {
    /// Sends a command, and gives what the client is told.
    public func ask(_ command: OutgoingCommand) async throws -> Response { command.answer(try await reply(to: command)) }

    /// Sends a command, and makes it anew where what it was checked against had changed meanwhile, a few times.
    ///
    /// - Parameter make: the command of this attempt, from 0.
    func reply(
        attempts: Int = 3, toEach make: (_ attempt: Int) throws -> OutgoingCommand
    ) async throws -> Reply {
        for attempt in 0..<attempts {
            var command = try make(attempt)
            command.isLastAttempt = attempt == attempts - 1
            let reply = try await reply(to: command)
            if reply.outcome != .stale { return reply }
        }
        throw APIError.unavailable
    }
}

/// A command before it is a record.
public struct OutgoingCommand: Sendable {
    public var message: any Message
    public var id: MessageID
    /// Where it belongs.
    public var routingKey: RoutingKey
    /// Whom it is about, where that is an identifier.
    public var subject: Subject?
    public var identity: CommandIdentity
    public var client: ClientDetails
    public var trace: TraceContext
    /// The command is dropped where it arrives after this.
    public var deadline: ContinuousClock.Instant
    /// What the client is told, and when.
    public var answer: @Sendable (Reply) -> Response
    public var timing: AnswerTiming
    /// Whether it is the reply to this one that the client is told of, even where it is stale.
    public var isLastAttempt = true

    public init(
        _ message: any Message, about subject: Subject, for request: Request, _ context: RequestContext,
        timing: AnswerTiming = .free, answer: @escaping @Sendable (Reply) -> Response
    ) {
        self.init(message, to: subject.routingKey, for: request, context, timing: timing, answer: answer)
        self.subject = subject
    }

    /// - Parameter id: where it had to be known before the message was made.
    public init(
        _ message: any Message, to routingKey: RoutingKey, id: MessageID? = nil, attempt: Int = 0, for request: Request,
        _ context: RequestContext, timing: AnswerTiming = .free, answer: @escaping @Sendable (Reply) -> Response
    ) {
        self.message = message
        self.routingKey = routingKey
        let identity = context[Commands.self] ?? CommandIdentity()
        self.identity = identity
        self.id = id ?? identity.id(of: Swift.type(of: message).type, attempt: attempt)
        client = ClientDetails(request, context)
        trace = context.trace.child()
        deadline = context.deadline
        self.timing = timing
        self.answer = answer
    }

    /// What a reply without data of its own is to the client: success, or the error of its outcome.
    public static func plainly(_ success: Response) -> @Sendable (Reply) -> Response {
        { reply in APIError(reply)?.response ?? success }
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
