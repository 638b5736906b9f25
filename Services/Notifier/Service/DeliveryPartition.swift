public import EventLog
public import EventSchema
public import NotifierDomain

/// An event of the Notifier, with the pseudonym of whom it is about.
public struct DeliveryEvent: Sendable, Equatable {
    public var subject: Subject
    public var content: NotifierEvent

    public init(subject: Subject, content: NotifierEvent) {
        self.subject = subject
        self.content = content
    }

    /// The send that it is about.
    public var send: MessageID {
        switch content {
        case .deliveryAttempted(let event): event.send
        case .delivered(let event): event.send
        case .deliveryFailed(let event): event.send
        case .deliveryUnknown(let event): event.send
        case .deliveryExpired(let event): event.send
        }
    }
}

/// The Notifier's rules as the loop needs them: one aggregate for each send.
public struct DeliveryPartition: PartitionDomain {
    public enum Input: Sendable, Equatable {
        /// A code was issued, by the event with this id.
        case issued(MessageID, CodeIssued, at: Timestamp)
        /// Somebody is to be told of what was done.
        case noticed(Delivery.Notification)
        /// An attempt has ended. `jitter` is random, in `0 ..< 1`.
        case concluded(MessageID, attempt: Int, Delivery.Outcome, jitter: Double)
        /// The time of a retry has come.
        case due(MessageID)
        /// An operator asks for another attempt.
        case retryAsked(MessageID)
    }

    public static let settings = {
        var settings = LoopSettings(
            service: .notifier, storage: .projection, inboxes: [.notifierCommands, .verificationEvents, .identityEvents],
            events: .notifierEvents)
        // What is delivered to an account and not to a decoy must not be felt in the answer.
        settings.hold = .milliseconds(10)
        return settings
    }()

    private static let codec = SchemaCodec.current

    /// Who delivers what goes through a channel.
    private let routes: [Channel: Delivery.Route]

    public init(routes: [Channel: Delivery.Route]) { self.routes = routes }

    func route(for channel: Channel) -> Delivery.Route { routes[channel] ?? Delivery.Route([]) }

    // MARK: Reading

    public func read(_ message: InboxMessage) -> Reading<Input> {
        switch message.partition.topic {
        case .verificationEvents: readVerification(message)
        case .identityEvents: readIdentity(message)
        case .notifierCommands: readCommand(message)
        default: .unknownType
        }
    }

    /// Types that never ask for a message. Most events are of one of them, so they are not even parsed.
    private static let silent = Set(
        [
            MessageType.codeMissed, .codeExhausted, .codeConfirmed, .resetTokenIssued, .resetTokenConsumed, .contactVerified,
            .sessionStarted, .sessionRefreshed, .loginFailed,
        ].map(\.name))

    /// An event that cannot be read may ask for a message: the partition stands still, whatever is wrong with it.
    private func readVerification(_ message: InboxMessage) -> Reading<Input> {
        if Self.silent.contains(message.type) { return .ignored }
        guard let event = try? Self.codec.decode(VerificationEvent.self, type: message.type, data: message.data) else {
            return .unknownType
        }
        return switch event {
        case .codeIssued(let issued): issued.decoy ? .ignored : .input(.issued(message.id, issued, at: message.time))
        case .codeMissed, .codeExhausted, .codeConfirmed, .resetTokenIssued, .resetTokenConsumed: .ignored
        }
    }

    private func readIdentity(_ message: InboxMessage) -> Reading<Input> {
        if Self.silent.contains(message.type) { return .ignored }
        guard let event = try? Self.codec.decode(IdentityEvent.self, type: message.type, data: message.data) else {
            return .unknownType
        }
        func notify(_ subject: Subject, _ occasion: Occasion, _ notice: Notice?) -> Reading<Input> {
            guard let notice else { return .ignored }
            return .input(
                .noticed(
                    Delivery.Notification(
                        id: message.id, subject: subject, occasion: occasion, notice: notice, requestedAt: message.time)))
        }
        return switch event {
        case .passwordReset(let reset): notify(reset.subject, .passwordWasReset, reset.notice)
        // There is no such message for a phone.
        case .onboardingStarted(let started) where started.channel == .email:
            notify(started.subject, .signUpAttempted, started.notice)
        default: .ignored
        }
    }

    private func readCommand(_ message: InboxMessage) -> Reading<Input> {
        do throws(SchemaError) {
            return switch try Self.codec.decode(NotifierCommand.self, type: message.type, data: message.data) {
            case .retryDelivery(let retry): .input(.retryAsked(retry.send))
            }
        } catch {
            if case .unknownType = error { return .unknownType }
            return .malformed
        }
    }

    // MARK: Deciding

    public func key(of input: Input) -> MessageID {
        switch input {
        case .noticed(let notification): notification.id
        case .issued(let send, _, _), .concluded(let send, _, _, _), .due(let send), .retryAsked(let send): send
        }
    }

    public func key(of event: DeliveryEvent) -> MessageID { event.send }

    public var initial: Delivery.State { Delivery.initial }

    public func decide(_ input: Input, at now: Timestamp, given state: Delivery.State) -> Decision<DeliveryEvent> {
        let route = route(for: channel(of: input, given: state))
        let command: Delivery.Command =
            switch input {
            case .issued(let send, let issued, let time): .send(send, issued, issuedAt: time, route)
            case .noticed(let notification): .notify(notification, route)
            case .concluded(_, let attempt, let outcome, let jitter):
                .conclude(attempt: attempt, outcome, route, jitter: jitter, now: now)
            case .due: .retry(route, now: now)
            case .retryAsked: .retryFailed(route, now: now)
            }
        do throws(Delivery.Refusal) {
            guard let content = try Delivery.decide(command, given: state), let subject = subject(of: input, given: state) else {
                return .nothing
            }
            return .event(DeliveryEvent(subject: subject, content: content))
        } catch {
            return .refusal(error.rawValue)
        }
    }

    private func channel(of input: Input, given state: Delivery.State) -> Channel {
        switch input {
        case .issued(_, let issued, _): issued.channel
        case .noticed(let notification): notification.occasion.channel
        case .concluded, .due, .retryAsked: state.attempt?.channel ?? .email
        }
    }

    private func subject(of input: Input, given state: Delivery.State) -> Subject? {
        switch input {
        case .issued(_, let issued, _): issued.subject
        case .noticed(let notification): notification.subject
        case .concluded, .due, .retryAsked: state.attempt?.subject
        }
    }

    public func evolve(_ state: inout Delivery.State, with event: DeliveryEvent, at now: Timestamp) {
        Delivery.evolve(&state, with: event.content)
    }

    public func isSpent(_ state: Delivery.State, at now: Timestamp) -> Bool { state == .absent }

    // MARK: Events and answers

    public func encode(_ event: DeliveryEvent) -> EventBody {
        let encoded = Self.codec.encode(event.content)
        return EventBody(type: encoded.type, subject: event.subject.base64url, data: encoded.data)
    }

    public func decode(_ body: EventBody) throws(UnreadableBody) -> DeliveryEvent {
        guard let subject = body.subject.flatMap(Subject.init) else {
            throw UnreadableBody(type: body.type, reason: "it has no subject")
        }
        do throws(SchemaError) {
            return DeliveryEvent(
                subject: subject, content: try Self.codec.decode(NotifierEvent.self, type: body.type, data: body.data))
        } catch {
            throw UnreadableBody(type: body.type, reason: error.description)
        }
    }

    /// Only operators' commands have somebody who waits.
    public func answer(to event: DeliveryEvent) -> Answer? {
        switch event.content {
        case .deliveryAttempted: Self.answer(.ok)
        case .delivered, .deliveryFailed, .deliveryUnknown, .deliveryExpired: nil
        }
    }

    public func answer(forRefusal code: String) -> Answer? {
        switch Delivery.Refusal(rawValue: code) {
        case .notFound: Self.answer(.notFound)
        case .notFailed: Self.answer(Self.notFailed)
        case .expired: Self.answer(Self.expired)
        case nil: nil
        }
    }

    static let notFailed = Reply.Outcome(rawValue: "NOT_FAILED")
    static let expired = Reply.Outcome(rawValue: "EXPIRED")

    private static func answer(_ outcome: Reply.Outcome) -> Answer { Answer(data: codec.encode(Reply(outcome: outcome)).data) }
}
