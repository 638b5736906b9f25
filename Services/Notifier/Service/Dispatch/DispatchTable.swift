internal import EventSchema
internal import NotifierDomain

/// Which attempts of this instance's partitions are on their way, which retries are due, and what the loop must hear of them:
/// a synchronous state machine. What it holds is lost with the process, and comes back from the projection.
struct DispatchTable: Sendable {
    enum Input: Equatable, Sendable {
        /// An attempt is confirmed and projected. `isOwn`: this process wrote it, so nobody else makes it.
        case attempted(DeliveryAttempted, partition: Int, isOwn: Bool)
        /// A failure is confirmed; the next attempt is due at this time.
        case failed(MessageID, retryAt: Timestamp, partition: Int)
        /// The send has come to an end, or to a stop until an operator looks at it.
        case ended(MessageID)
        /// The projection's open sends of partitions that were taken over. `isOwn` says of an attempt that this process wrote it.
        case open([Open])
        case released([Int])
        /// What a provider says of an attempt.
        case concluded(MessageID, attempt: Int, Delivery.Outcome)
        /// The provider may have taken the message, and removes doubles.
        case unsure(MessageID, attempt: Int)
        /// It could not be handed over yet.
        case postponed(MessageID, attempt: Int, isRepeat: Bool)
        case tick
    }

    struct Open: Equatable, Sendable {
        var send: DeliveryTables.OpenSend
        var isOwn: Bool
    }

    enum Action: Equatable, Sendable {
        /// `isRepeat`: somebody may have handed it over before.
        case deliver(DeliveryAttempted, isRepeat: Bool)
        case submit(DeliveryPartition.Input, partition: Int)
    }

    private enum Phase: Sendable {
        case delivering
        /// The loop was told.
        case concluded(Delivery.Outcome)
        /// To be handed over again at this time.
        case repeating(at: Timestamp, isRepeat: Bool)
        /// The loop is told at this time, and from then on again and again until it has decided.
        case waiting(until: Timestamp)
    }

    private struct Send: Sendable {
        var partition: Int
        /// `nil` while only a retry is waited for.
        var attempt: DeliveryAttempted?
        var phase: Phase
        var repeats = 0
    }

    /// How soon something is tried again that had no effect.
    private static let patience = Interval.seconds(1)
    private static let shortPatience = Interval.milliseconds(200)
    private static let longestPatience = Interval.seconds(30)

    private var sends: [MessageID: Send] = [:]
    /// Attempts that were given to a provider in this process, also for partitions that it does not own any more, until they
    /// are known to have ended.
    private var begun: [MessageID: DeliveryAttempted] = [:]
    /// Nothing is due before this time.
    private var nextDue: Timestamp?

    var count: Int { sends.count }

    /// When `tick` has something to do; `nil`: not before something else happens.
    var due: Timestamp? { nextDue }

    /// `jitter` gives random numbers in `0 ..< 1`.
    mutating func handle(_ input: Input, at now: Timestamp, jitter: () -> Double) -> [Action] {
        switch input {
        case .attempted(let attempt, let partition, let isOwn):
            return attempted(attempt, partition, isOwn: isOwn, jitter: jitter)
        case .failed(let send, let retryAt, let partition):
            begun[send] = nil
            wait(send, until: retryAt, partition)
            return tick(now)
        case .ended(let send):
            sends[send] = nil
            begun[send] = nil
            return []
        case .open(let open):
            return resume(open, jitter: jitter) + tick(now)
        case .released(let partitions):
            sends = sends.filter { !partitions.contains($0.value.partition) }
            // What other instances end is not told here.
            begun = begun.filter { $0.value.expiresAt + .hours(1) > now }
            return []
        case .concluded(let send, let number, let outcome):
            guard let entry = sends[send], let attempt = entry.attempt, attempt.attempt == number else { return [] }
            sends[send]?.phase = .concluded(outcome)
            return [submission(of: outcome, attempt, entry.partition, jitter)]
        case .unsure(let send, let number):
            handOverAgain(send, number, isRepeat: true, patience: Self.patience, at: now)
            return []
        case .postponed(let send, let number, let isRepeat):
            handOverAgain(send, number, isRepeat: isRepeat, patience: Self.shortPatience, at: now)
            return []
        case .tick:
            return tick(now)
        }
    }

    private mutating func attempted(
        _ attempt: DeliveryAttempted, _ partition: Int, isOwn: Bool, jitter: () -> Double
    ) -> [Action] {
        if let entry = sends[attempt.send], let known = entry.attempt, known.attempt >= attempt.attempt {
            // What has been concluded may have got lost on its way to the log.
            guard known.attempt == attempt.attempt, case .concluded(let outcome) = entry.phase else { return [] }
            return [submission(of: outcome, known, entry.partition, jitter)]
        }
        sends[attempt.send] = Send(partition: partition, attempt: attempt, phase: .delivering)
        let isFirst = isOwn && begun[attempt.send]?.attempt != attempt.attempt
        begun[attempt.send] = attempt
        return [.deliver(attempt, isRepeat: !isFirst)]
    }

    private mutating func resume(_ open: [Open], jitter: () -> Double) -> [Action] {
        var actions: [Action] = []
        for open in open {
            let send = open.send
            switch send.state {
            case .attempting(let attempt): actions += attempted(attempt, send.partition, isOwn: open.isOwn, jitter: jitter)
            case .waiting(_, let retryAt): wait(send.id, until: retryAt, send.partition)
            case .absent, .failed, .unknown: break
            }
        }
        return actions
    }

    private mutating func handOverAgain(
        _ send: MessageID, _ number: Int, isRepeat: Bool, patience: Interval, at now: Timestamp
    ) {
        guard let entry = sends[send], entry.attempt?.attempt == number, case .delivering = entry.phase else { return }
        let wait = min(patience.milliseconds << Int64(min(entry.repeats, 10)), Self.longestPatience.milliseconds)
        sends[send]?.phase = .repeating(at: now + .milliseconds(wait), isRepeat: isRepeat)
        sends[send]?.repeats += 1
        note(now + .milliseconds(wait))
    }

    private mutating func wait(_ send: MessageID, until time: Timestamp, _ partition: Int) {
        sends[send] = Send(partition: partition, attempt: nil, phase: .waiting(until: time))
        note(time)
    }

    private func submission(
        of outcome: Delivery.Outcome, _ attempt: DeliveryAttempted, _ partition: Int, _ jitter: () -> Double
    ) -> Action {
        .submit(.concluded(attempt.send, attempt: attempt.attempt, outcome, jitter: jitter()), partition: partition)
    }

    private mutating func note(_ time: Timestamp) { nextDue = min(nextDue ?? time, time) }

    private mutating func tick(_ now: Timestamp) -> [Action] {
        guard let due = nextDue, due <= now else { return [] }
        nextDue = nil
        var actions: [(send: MessageID, action: Action)] = []
        for (id, send) in sends {
            switch send.phase {
            case .delivering, .concluded: break
            case .repeating(let time, let isRepeat) where time <= now:
                guard let attempt = send.attempt else { break }
                sends[id]?.phase = .delivering
                actions.append((id, .deliver(attempt, isRepeat: isRepeat)))
            case .waiting(let time) where time <= now:
                sends[id]?.phase = .waiting(until: now + Self.patience)
                actions.append((id, .submit(.due(id), partition: send.partition)))
                note(now + Self.patience)
            case .repeating(let time, _), .waiting(let time): note(time)
            }
        }
        return actions.sorted { $0.send.text < $1.send.text }.map(\.action)
    }
}
