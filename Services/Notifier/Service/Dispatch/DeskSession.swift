internal import EventSchema
internal import NotifierDomain
internal import Postgres
internal import Runtime

/// One run of a desk, on its thread: the only one that touches the table.
struct DeskSession {
    private let desk: DeliveryDesk
    private let loop: DeliveryDesk.Loop
    private let lines: [String: ProviderLine]
    private let session: PostgresSession
    private var table = DispatchTable()
    /// What came before the log's time was known.
    private var held: [DeliveryDesk.Mail] = []
    /// Partitions whose open sends are still to be read.
    private var unread: Set<Int> = []
    private var isDatabaseAway = false

    /// How soon something is looked at again that could not be done.
    private static let pause: Duration = .milliseconds(100)
    /// How long a stopped desk goes on delivering what waits.
    private static let drainTime: Duration = .seconds(10)

    init(desk: DeliveryDesk, loop: DeliveryDesk.Loop) {
        self.desk = desk
        self.loop = loop
        session = PostgresSession(desk.database.goingByKeys)
        let (mail, metrics) = (desk.mail, desk.metrics)
        lines = Dictionary(
            uniqueKeysWithValues: desk.providers.map { provider in
                let line = ProviderLine(provider, composer: desk.composer, clock: loop.now) { job, verdict in
                    metrics.note(verdict, of: job.attempt, at: loop.now())
                    mail.send(.verdict(verdict, job.attempt, isRepeat: job.isRepeat))
                }
                return (provider.name, line)
            })
    }

    mutating func run(until stop: StopFlag) {
        for line in lines.values { line.start() }
        while !stop.isRaised {
            held += desk.mail.receive(within: wait)
            work(takesAttempts: true)
        }
        finish()
        for line in lines.values { line.close() }
        session.close()
    }

    /// Delivers what providers already have, and tells the loop: what is left to the next owner may have to be called unknown.
    private mutating func finish() {
        let deadline = ContinuousClock.now + Self.drainTime
        while isBusy, ContinuousClock.now < deadline {
            held += desk.mail.receive(within: Self.pause)
            work(takesAttempts: false)
        }
        for line in lines.values { line.withdraw() }
        held += desk.mail.receive(within: .zero)
        work(takesAttempts: false)
    }

    private var isBusy: Bool { desk.mail.count > 0 || lines.values.contains { $0.count > 0 } }

    /// `nil`: until mail comes.
    private var wait: Duration? {
        guard let now = loop.now() else { return Self.pause }
        if !held.isEmpty || !unread.isEmpty { return Self.pause }
        return table.due.map { .milliseconds(max(($0 - now).milliseconds, 1)) }
    }

    private mutating func work(takesAttempts: Bool) {
        guard let now = loop.now() else { return }
        let mail = held
        held = []
        for mail in mail { handle(mail, at: now, takesAttempts) }
        if takesAttempts { readOpenSends(at: now) }
        feed(.tick, at: now)
        desk.waiting.set(lines.values.reduce(0) { $0 + $1.count })
    }

    private mutating func handle(_ mail: DeliveryDesk.Mail, at now: Timestamp, _ takesAttempts: Bool) {
        switch mail {
        case .tookOver(let partitions): unread.formUnion(partitions)
        case .released(let partitions):
            unread.subtract(partitions)
            feed(.released(partitions), at: now)
        case .verdict(.concluded(let outcome), let attempt, _):
            feed(.concluded(attempt.send, attempt: attempt.attempt, outcome), at: now)
        case .verdict(.unsure, let attempt, _): feed(.unsure(attempt.send, attempt: attempt.attempt), at: now)
        case .verdict(.postponed, let attempt, let isRepeat):
            feed(.postponed(attempt.send, attempt: attempt.attempt, isRepeat: isRepeat), at: now)
        case .happened(let event, let partition, let writer):
            switch event.content {
            case .deliveryAttempted(let attempt):
                if takesAttempts { feed(.attempted(attempt, partition: partition, isOwn: writer == loop.writer), at: now) }
            case .deliveryFailed(let failed):
                if let retryAt = failed.retryAt {
                    feed(.failed(failed.send, retryAt: retryAt, partition: partition), at: now)
                } else {
                    feed(.ended(failed.send), at: now)
                }
            case .delivered, .deliveryUnknown, .deliveryExpired: feed(.ended(event.send), at: now)
            }
        }
    }

    private mutating func readOpenSends(at now: Timestamp) {
        guard !unread.isEmpty else { return }
        do throws(PostgresError) {
            let rows = try session.connection().query(desk.tables.readingOpen(in: unread.sorted()))
            let sends = try DeliveryTables.sends(in: rows)
            if isDatabaseAway { desk.logger.notice("open sends can be read again") }
            isDatabaseAway = false
            unread = []
            feed(.open(sends.map { DispatchTable.Open(send: $0, isOwn: $0.writer == loop.writer) }), at: now)
        } catch {
            if !isDatabaseAway { desk.logger.warning("open sends cannot be read", ["reason": .public(error.description)]) }
            isDatabaseAway = true
        }
    }

    private mutating func feed(_ input: DispatchTable.Input, at now: Timestamp) {
        // In a step of its own: `perform(table.handle(…))` would copy this session first, and with it every entry of the table.
        let actions = table.handle(input, at: now, jitter: Self.jitter)
        perform(actions)
    }

    private static func jitter() -> Double { .random(in: 0..<1) }

    private func perform(_ actions: [DispatchTable.Action]) {
        for action in actions {
            switch action {
            case .submit(let input, let partition): loop.submit(input, partition)
            case .deliver(let attempt, let isRepeat):
                if let line = lines[attempt.provider] {
                    line.send(ProviderLine.Job(attempt: attempt, isRepeat: isRepeat))
                } else {
                    // Nobody delivers through this channel, or the settings have changed since the attempt.
                    let outcome =
                        isRepeat && attempt.provider != Delivery.Route.nobody ? Delivery.Outcome.unknown : .failed(.notConfigured)
                    desk.metrics.note(.concluded(outcome), of: attempt, at: loop.now())
                    desk.mail.send(.verdict(.concluded(outcome), attempt, isRepeat: isRepeat))
                }
            }
        }
    }
}
