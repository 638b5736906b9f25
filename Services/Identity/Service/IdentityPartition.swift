public import Crypto
public import EventLog
public import EventSchema
public import IdentityDomain

/// Identity's rules as the loop needs them: one aggregate for each routing key.
public struct IdentityPartition: PartitionDomain {
    public static let settings = LoopSettings(
        service: .identity, storage: .projection, inboxes: [.identityCommands, .verificationEvents], events: .identityEvents)

    private static let codec = SchemaCodec.current

    private let routing: Routing
    private let reader: IdentityReader
    private let replies: IdentityReplies

    /// - Parameters:
    ///   - opener: holds Identity's pairs.
    ///   - ownKey: Identity's newest key, to seal to. It is known before the first command is read.
    public init(
        routing: Routing, minting: any TokenMinting, opener: BoxOpener, sealer: BoxSealer,
        ownKey: @escaping @Sendable () -> RecipientKey
    ) {
        self.routing = routing
        reader = IdentityReader(routing: routing, opener: opener, sealer: sealer, ownKey: ownKey)
        replies = IdentityReplies(minting: minting, opener: opener, sealer: sealer)
    }

    // MARK: Reading

    public func read(_ message: InboxMessage) -> Reading<IdentityInput> { reader.read(message) }

    /// Verification leaves the answer to a right code to Identity, which stamps first what the code proves. What it says again
    /// of a consumed reset token is for check workers, and no reply.
    public func owesAnswer(to message: InboxMessage) -> Bool {
        switch message.type {
        case CodeConfirmed.type.rawValue: true
        case LogRecordType.repeated:
            (try? Self.codec.decode(Reply.self, type: LogRecordType.reply, data: message.data)) != nil
        default: message.isCommand
        }
    }

    // MARK: Deciding

    public func key(of input: IdentityInput) -> RoutingKey { input.home }

    public func key(of event: IdentityEvent) -> RoutingKey { event.place.routingKey(by: routing) }

    public var initial: Home.State { Home.initial }

    public func decide(_ input: IdentityInput, at now: Timestamp, given home: Home.State) -> Decision<IdentityEvent> {
        do throws(Home.Refusal) {
            guard let decided = try Home.decide(Home.Timed(input.action, at: now), given: home) else { return .nothing }
            guard let event = replies.completed(decided.content, input, home, at: now) else {
                throw input.presented.map { _ in decided.content.refusalOfLostTokens } ?? .stale
            }
            return .event(event)
        } catch {
            return .refusal(error.code)
        }
    }

    public func evolve(_ home: inout Home.State, with event: IdentityEvent, at now: Timestamp) {
        Home.evolve(&home, with: Home.Timed(event, at: now))
    }

    /// What is no longer of use is kept in rows, not in memory.
    public func isSpent(_ home: Home.State, at now: Timestamp) -> Bool { home == Home.initial }

    // MARK: Events and answers

    public func encode(_ event: IdentityEvent) -> EventBody {
        let encoded = Self.codec.encode(event)
        return EventBody(type: encoded.type, subject: event.place.text, data: encoded.data)
    }

    public func decode(_ body: EventBody) throws(UnreadableBody) -> IdentityEvent {
        do throws(SchemaError) {
            return try Self.codec.decode(IdentityEvent.self, type: body.type, data: body.data)
        } catch {
            throw UnreadableBody(type: body.type, reason: error.description)
        }
    }

    public func answer(to event: IdentityEvent) -> Answer? { IdentityAnswers.reply(to: event).map(answer) }

    public func answer(forRefusal code: String) -> Answer? {
        Home.Refusal(code: code).map { answer(IdentityAnswers.reply(to: $0)) }
    }

    private func answer(_ reply: Reply) -> Answer { Answer(data: Self.codec.encode(reply).data) }
}

extension IdentityEvent {
    /// What is told when the tokens that were to be repeated can be read by nobody any more.
    fileprivate var refusalOfLostTokens: Home.Refusal {
        if case .completionRepeated = self { .onboardingCompleted } else { .refreshTokenInvalid }
    }
}
