public import EventSchema

/// One message to one person, from the event that asks for it to its end, and the rules for when it is given to a provider.
///
/// Source: DESIGN, section 6. An attempt is an event before it is made, so nothing is sent twice; how it ended is another.
public enum Delivery: Decider {
    public enum State: Equatable, Sendable {
        /// Not asked for, or over: delivered, or expired.
        case absent
        /// Given to a provider that has not said how it ended.
        case attempting(DeliveryAttempted)
        /// The attempt failed; another one follows at this time.
        case waiting(DeliveryAttempted, retryAt: Timestamp)
        /// Failed for good, unless an operator asks for another attempt.
        case failed(DeliveryAttempted)
        /// Whether the attempt succeeded cannot be known. Only an operator may ask for another one.
        case unknown(DeliveryAttempted)
    }

    /// The providers for a channel, by name, in the order of preference.
    public struct Route: Equatable, Sendable {
        /// Stands in an attempt for which no provider is configured: it fails, and an operator finds it.
        public static let nobody = "none"

        public var providers: [String]
        public var schedule: RetrySchedule

        public init(_ providers: [String], schedule: RetrySchedule = RetrySchedule()) {
            self.providers = providers
            self.schedule = schedule
        }

        /// Who makes the first attempt.
        public var first: String { providers.first ?? Self.nobody }

        /// Who makes the attempt after one by `provider`: each in turn.
        public func next(after provider: String) -> String {
            guard let index = providers.firstIndex(of: provider) else { return first }
            return providers[(index + 1) % providers.count]
        }

        /// Whether everybody has been tried as often when an attempt by `provider` has failed.
        func endsRound(_ provider: String) -> Bool { next(after: provider) == first }

        /// The round that this attempt belongs to, from 1.
        func round(of attempt: Int) -> Int { (attempt - 1) / max(providers.count, 1) + 1 }
    }

    /// What became of an attempt.
    public enum Outcome: Equatable, Sendable {
        /// The provider took the message, under its own id if it gives one.
        case delivered(providerID: String?)
        /// It certainly did not take it. `retryAfter` is what it asked for.
        case failed(DeliveryFailed.Reason, retryAfter: Interval? = nil)
        /// It may have taken it, and does not remove doubles.
        case unknown
        /// The message's time was over before it was sent, or what was sealed cannot be opened any more.
        case expired
    }

    public enum Command: Equatable, Sendable {
        /// A code has been issued and is to be sent.
        case send(MessageID, CodeIssued, issuedAt: Timestamp, Route)
        /// Somebody is to be told of what was done.
        case notify(Notification, Route)
        /// An attempt, told by its number, has ended. `jitter` is random, in `0 ..< 1`.
        case conclude(attempt: Int, Outcome, Route, jitter: Double, now: Timestamp)
        /// It is time for another attempt.
        case retry(Route, now: Timestamp)
        /// An operator asks for another attempt.
        case retryFailed(Route, now: Timestamp)
    }

    /// A notice, as an event of Identity asks for it.
    public struct Notification: Equatable, Sendable {
        /// The event's id.
        public var id: MessageID
        public var subject: Subject
        public var occasion: Occasion
        public var notice: Notice
        public var requestedAt: Timestamp

        public init(id: MessageID, subject: Subject, occasion: Occasion, notice: Notice, requestedAt: Timestamp) {
            self.id = id
            self.subject = subject
            self.occasion = occasion
            self.notice = notice
            self.requestedAt = requestedAt
        }

        /// After that it is no news any more.
        static let lifetime = Interval.hours(24)
    }

    public enum Refusal: String, Error, Equatable, Sendable, CaseIterable {
        /// There is no open send of this id.
        case notFound = "not-found"
        /// The send has not failed (yet).
        case notFailed = "not-failed"
        /// What would be sent is of no use any more.
        case expired
    }

    public static let initial = State.absent

    public static func decide(_ command: Command, given state: State) throws(Refusal) -> NotifierEvent? {
        switch command {
        case .send(let id, let issued, let issuedAt, let route):
            // A decoy is issued like a code, and goes to nobody.
            guard case .absent = state, !issued.decoy else { return nil }
            return .deliveryAttempted(
                DeliveryAttempted(
                    send: id, subject: issued.subject, attempt: 1, provider: route.first, purpose: Occasion(issued.purpose),
                    channel: issued.channel, requestedAt: issuedAt, expiresAt: issued.expiresAt, recipient: issued.recipient,
                    code: issued.code, locale: issued.locale))

        case .notify(let notification, let route):
            guard case .absent = state else { return nil }
            return .deliveryAttempted(
                DeliveryAttempted(
                    send: notification.id, subject: notification.subject, attempt: 1, provider: route.first,
                    purpose: notification.occasion, channel: notification.occasion.channel,
                    requestedAt: notification.requestedAt, expiresAt: notification.requestedAt + Notification.lifetime,
                    recipient: notification.notice.recipient, code: nil, locale: notification.notice.locale))

        case .conclude(let number, let outcome, let route, let jitter, let now):
            guard let attempt = state.attempt, attempt.attempt == number else { return nil }
            return conclude(attempt, outcome, given: state, route, jitter: jitter, now: now)

        case .retry(let route, let now):
            guard case .waiting(let attempt, let retryAt) = state, now >= retryAt else { return nil }
            return now < attempt.expiresAt ? next(after: attempt, route) : .deliveryExpired(DeliveryExpired(send: attempt.send))

        case .retryFailed(let route, let now):
            switch state {
            case .absent: throw .notFound
            case .attempting, .waiting: throw .notFailed
            case .failed(let attempt), .unknown(let attempt):
                guard now < attempt.expiresAt else { throw .expired }
                return next(after: attempt, route)
            }
        }
    }

    /// Of several outcomes for one attempt (two instances looked into one outbox), the first counts; only that the message
    /// was delivered is believed at any time.
    private static func conclude(
        _ attempt: DeliveryAttempted, _ outcome: Outcome, given state: State, _ route: Route, jitter: Double, now: Timestamp
    ) -> NotifierEvent? {
        if case .delivered(let providerID) = outcome {
            return .delivered(
                Delivered(send: attempt.send, attempt: attempt.attempt, provider: attempt.provider, providerID: providerID))
        }
        guard case .attempting = state else { return nil }
        switch outcome {
        case .delivered: return nil
        case .unknown:
            return .deliveryUnknown(DeliveryUnknown(send: attempt.send, attempt: attempt.attempt, provider: attempt.provider))
        case .expired: return .deliveryExpired(DeliveryExpired(send: attempt.send))
        case .failed(let reason, let retryAfter):
            let retryAt = retryTime(after: attempt, reason, retryAfter, route, jitter: jitter, now: now)
            return .deliveryFailed(
                DeliveryFailed(
                    send: attempt.send, attempt: attempt.attempt, provider: attempt.provider, reason: reason, retryAt: retryAt))
        }
    }

    /// `nil`: the failure is final.
    private static func retryTime(
        after attempt: DeliveryAttempted, _ reason: DeliveryFailed.Reason, _ retryAfter: Interval?, _ route: Route,
        jitter: Double,
        now: Timestamp
    ) -> Timestamp? {
        guard !route.providers.isEmpty, attempt.attempt < route.schedule.attempts else { return nil }
        let retryAt: Timestamp
        switch reason.scope {
        case .message: return nil
        case .provider where route.providers.count == 1: return nil
        case .provider, .passing:
            if route.endsRound(attempt.provider) {
                let wait = route.schedule.wait(afterRound: route.round(of: attempt.attempt), jitter: jitter)
                retryAt = now + max(wait, route.providers.count == 1 ? retryAfter ?? .zero : .zero)
            } else {
                retryAt = now
            }
        }
        return retryAt < attempt.expiresAt ? retryAt : nil
    }

    private static func next(after attempt: DeliveryAttempted, _ route: Route) -> NotifierEvent {
        var next = attempt
        next.attempt += 1
        next.provider = route.next(after: attempt.provider)
        return .deliveryAttempted(next)
    }

    public static func evolve(_ state: inout State, with event: NotifierEvent) {
        switch event {
        case .deliveryAttempted(let attempt): state = .attempting(attempt)
        case .delivered, .deliveryExpired: state = .absent
        case .deliveryFailed(let failed):
            guard let attempt = state.attempt else { return }
            state = failed.retryAt.map { .waiting(attempt, retryAt: $0) } ?? .failed(attempt)
        case .deliveryUnknown:
            guard let attempt = state.attempt else { return }
            state = .unknown(attempt)
        }
    }
}

extension Delivery.State {
    /// The last attempt, with all that another one needs.
    public var attempt: DeliveryAttempted? {
        switch self {
        case .absent: nil
        case .attempting(let attempt), .waiting(let attempt, _), .failed(let attempt), .unknown(let attempt): attempt
        }
    }
}

extension DeliveryFailed.Reason {
    enum Scope {
        /// It may be over soon.
        case passing
        /// This provider will not take it today; another one might.
        case provider
        /// Nobody will take it.
        case message
    }

    var scope: Scope {
        switch self {
        case .unreachable, .timeout, .unavailable, .rateLimited, .circuitOpen: .passing
        case .quotaExceeded, .unauthorized, .notConfigured: .provider
        case .recipientRefused, .messageRefused: .message
        }
    }
}
