internal import Crypto
internal import EventLog
internal import EventSchema
internal import Postgres
internal import Runtime

/// One run of a keeper, on its thread.
struct KeySession {
    let keeper: KeyKeeper
    private var follower: KeyFollower
    /// When own keys are looked after next.
    private var due = ContinuousClock.now
    /// When the log is asked for its time next.
    private var askDue = ContinuousClock.now
    private var isLogAway = false
    private var isDatabaseAway = false
    /// A derived key becomes the newest one once, at the start: two versions of a secret that run at the same time would
    /// publish against each other for ever.
    private var hasSettled = false
    private var told: [KeyDirectory.Void: Int] = [:]

    /// How soon something that failed is tried again.
    private static let retryPause: Duration = .milliseconds(500)
    /// How often the log is asked for its time.
    private static let askInterval: Duration = .seconds(5)
    /// How soon something is looked at again that this thread is not woken for.
    private static let glance: Duration = .milliseconds(20)

    init(keeper: KeyKeeper) {
        self.keeper = keeper
        follower = KeyFollower(directory: keeper.directory)
    }

    mutating func run(until stop: StopFlag) throws(SealingError) {
        while !stop.isRaised {
            do throws(SealingError) {
                try follow(until: stop)
            } catch .log(let error) where error.passes {
                if !isLogAway { keeper.logger.warning("the log is away", ["reason": .public(error.description)]) }
                isLogAway = true
                if !follower.hasReachedEnd {
                    keeper.readiness.set(KeyKeeper.part, ready: false, "the topic keys cannot be read")
                }
                keeper.rest(Self.retryPause)
            }
        }
    }

    // MARK: Following

    private mutating func follow(until stop: StopFlag) throws(SealingError) {
        let (consumer, producer) = try open()
        keeper.setConsumer(consumer)
        let publisher = producer.map {
            KeyPublisher(producer: $0, authenticator: keeper.authenticator, patience: keeper.interval)
        }
        defer {
            keeper.setConsumer(nil)
            producer?.flush(within: .seconds(3))
            producer?.close()
            consumer.close()
        }
        follower.follow(on: consumer)
        askDue = .now
        while !stop.isRaised {
            if let producer { askTime(producer) }
            let learned = try step(consumer)
            for key in follower.takeIntroduced() {
                keeper.logger.notice("a MAC key of the log was introduced", ["key": .public(Int(key))])
            }
            for question in follower.takeQuestions() { try answer(question, over: producer) }
            if let failure = publisher?.takeFailure() {
                keeper.logger.warning("a sealing key was not published", ["reason": .public(failure.description)])
                due = min(due, .now + Self.retryPause)
            }
            if follower.hasReachedEnd {
                // Another instance may have made a pair that this one does not hold yet.
                let isNews = learned.contains { $0.service == keeper.own.service && !keeper.own.holds($0.key) }
                if isNews || due <= .now { try lookAfterOwn(publisher) }
            }
            for sealer in keeper.sealers { sealer.discardExpired() }
            tell()
        }
    }

    private func open() throws(SealingError) -> (any LogConsumer, (any LogProducer)?) {
        do throws(LogError) {
            let consumer = try keeper.log.makeConsumer(client: "keys", group: nil)
            if keeper.own.service == nil { return (consumer, nil) }
            do throws(LogError) {
                return (consumer, keeper.time.learning(from: try keeper.log.makeProducer(client: "keys")))
            } catch {
                consumer.close()
                throw error
            }
        } catch {
            throw .log(error)
        }
    }

    /// Again and again: the log's clock may be set.
    private mutating func askTime(_ producer: any LogProducer) {
        guard let service = keeper.own.service, askDue <= .now else { return }
        askDue = .now + (keeper.now() == nil ? Self.retryPause : Self.askInterval)
        let probe = OutgoingRecord.probe(of: TopicPartition(.replies, 0), by: service, keeper.authenticator)
        producer.append(probe) { [keeper] _ in keeper.wake() }
    }

    /// Tells whether this process holds a MAC key that somebody wants to introduce.
    private func answer(_ question: MACKeyQuestion, over producer: (any LogProducer)?) throws(SealingError) {
        do throws(LogError) {
            let answer = MACKeyAnswer(
                service: keeper.own.service ?? .gateway, isHeld: keeper.authenticator.holds(question.key))
            let own: any LogProducer
            if let producer { own = producer } else { own = try keeper.log.makeProducer(client: "keys") }
            own.append(answer.record(to: question, by: keeper.authenticator)) { _ in }
            guard producer == nil else { return }
            own.flush(within: .seconds(3))
            own.close()
        } catch {
            throw .log(error)
        }
    }

    private mutating func step(_ consumer: any LogConsumer) throws(SealingError) -> [SealingKeyPublished] {
        // Keys become usable by time alone, so readiness is looked at again each second.
        let wait = min(max(ContinuousClock.now.duration(to: due), .zero), keeper.now() == nil ? Self.glance : .seconds(1))
        do {
            let events = try consumer.poll(timeout: follower.hasReachedEnd ? wait : .seconds(1))
            if isLogAway, consumer.isAvailable {
                isLogAway = false
                keeper.logger.notice("the log is back")
            }
            return try follower.apply(events, from: consumer)
        } catch {
            throw .log(error)
        }
    }

    // MARK: Own keys

    private mutating func lookAfterOwn(_ publisher: KeyPublisher?) throws(SealingError) {
        // Before the log has told its time, nobody can say which keys are due.
        guard let now = keeper.now() else { return }
        do throws(SealingError) {
            if let publisher {
                switch keeper.own {
                case .none: break
                case .derived(let key): lookAfter(key, publisher, at: now)
                case .daily(let store, let database, let isRead): try lookAfter(store, database, isRead, publisher, at: now)
                }
            }
            due = .now + keeper.interval
            if isDatabaseAway { keeper.logger.notice("Postgres is back") }
            isDatabaseAway = false
        } catch .database(let error) where error.isRetriable {
            if !isDatabaseAway { keeper.logger.warning("Postgres is away", ["reason": .public(error.description)]) }
            isDatabaseAway = true
            due = .now + Self.retryPause
        }
    }

    private mutating func lookAfter(_ key: DerivedSealingKey, _ publisher: KeyPublisher, at now: Timestamp) {
        let isThere =
            hasSettled
            ? keeper.directory.keys(of: key.service, after: now).contains { $0.key == key.id }
            : keeper.directory.newest(key.service, at: now)?.key == key.id
        if !isThere { publish(key.published, publisher, at: now) }
        hasSettled = true
    }

    /// With a connection for a moment: it is needed once a minute.
    private func lookAfter(
        _ store: SealingKeyStore, _ database: PostgresConnection.Configuration, _ isRead: (Timestamp) -> Bool,
        _ publisher: KeyPublisher, at now: Timestamp
    ) throws(SealingError) {
        let connection: PostgresConnection
        do {
            connection = try PostgresConnection(database)
        } catch {
            throw .database(error)
        }
        defer { connection.close() }
        for key in try store.refresh(over: connection, at: now) where !keeper.directory.contains(key) {
            publish(key, publisher, at: now)
        }
        for id in try store.destroy(over: connection, at: now, isRead: isRead) {
            keeper.metrics.destroyed.increment()
            keeper.logger.info("destroyed a sealing key", ["key": .public(id)])
        }
    }

    private func publish(_ key: SealingKeyPublished, _ publisher: KeyPublisher, at now: Timestamp) {
        guard publisher.publish(key, at: now) else { return }
        keeper.metrics.published.increment()
        keeper.logger.info("publishing a sealing key", ["key": .public(key.key)])
    }

    // MARK: Telling

    private mutating func tell() {
        for (reason, count) in follower.void where count > told[reason, default: 0] {
            keeper.metrics.void.with(reason.rawValue).increment(by: count - told[reason, default: 0])
            keeper.logger.warning("a record of the topic keys counts for nothing", ["reason": .public(reason.rawValue)])
        }
        told = follower.void
        let obstacle = obstacle
        // The log's clock may have left the time of the own key.
        if obstacle == Self.unpublished { due = min(due, .now + Self.retryPause) }
        keeper.readiness.set(KeyKeeper.part, ready: obstacle == nil, obstacle ?? "")
    }

    private static let unpublished = "the service's own key is not published yet"

    private var obstacle: String? {
        guard follower.hasReachedEnd else { return "the topic keys is being read" }
        if keeper.own.service == nil, keeper.needs.isEmpty { return nil }
        guard let now = keeper.now() else { return "the log has not told its time yet" }
        if let service = keeper.own.service {
            guard let key = keeper.directory.newest(service, at: now), keeper.own.holds(key.key) else {
                return isDatabaseAway ? "Postgres is away" : Self.unpublished
            }
        }
        let missing = keeper.directory.missing(of: keeper.needs, at: now)
        return missing.isEmpty ? nil : "no key to seal to: " + missing.map(\.rawValue).joined(separator: ", ")
    }
}
