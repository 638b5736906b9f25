import EventLog
import EventSchema
import Postgres
import Synchronization

/// Reads by looking at the tables over one connection, when it was told that there is something, and else now and then.
///
/// Everything but `wake` and `isAvailable` belongs to the one thread that uses the consumer, as `LogConsumer` says; that is
/// why its state needs no lock.
final class PostgresLogConsumer: LogConsumer, @unchecked Sendable {
    private let log: PostgresLog
    private let catalog: LogCatalog
    private let inbox: ConsumerInbox
    private let available = Atomic(true)
    private let session: PostgresSession
    private var membership: GroupMembership?
    private var followed = FollowedPartitions()
    private var unsaved: [TopicPartition: CommittedOffset] = [:]
    private var saveAt = ContinuousClock.now
    private var lookAt = ContinuousClock.now
    private var connects = 0
    private var isClosed = false

    /// Positions are stored at most this often: they only save time.
    private static let saveInterval: Duration = .milliseconds(250)

    init(_ log: PostgresLog, client: String, group: ConsumerGroup?, catalog: LogCatalog) {
        self.log = log
        self.catalog = catalog
        inbox = ConsumerInbox(group: group?.name)
        session = PostgresSession(log.configuration.connection("\(client) reads", settings: ["synchronous_commit": "off"]))
        membership = group.map {
            GroupMembership($0, topic: catalog.id($0.topic), client: client, configuration: log.configuration)
        }
        log.bulletin.register(inbox, inGroup: group != nil)
    }

    deinit { close() }

    var isAvailable: Bool { available.load(ordering: .relaxed) }

    func wake() { inbox.wake() }

    // MARK: - Polling

    func poll(timeout: Duration) throws(LogError) -> [LogEvent] {
        let deadline = ContinuousClock.now + timeout
        while true {
            guard !isClosed else { throw LogError(.closed, "the consumer is closed") }
            let isWoken = takeNews()
            do {
                let events = try look(over: try connect())
                available.store(true, ordering: .relaxed)
                if !events.isEmpty { return events }
            } catch {
                guard error.isRetriable else { throw error }
                available.store(false, ordering: .relaxed)
            }
            let now = ContinuousClock.now
            if isWoken || now >= deadline { return [] }
            inbox.wait(until: min(deadline, nextWork))
        }
    }

    /// When something is due even if nobody says so.
    private var nextWork: ContinuousClock.Instant {
        if let attempt = session.nextAttempt { return attempt }
        var next = lookAt
        if let membership { next = min(next, membership.heartbeatAt) }
        if !unsaved.isEmpty { next = min(next, saveAt) }
        return next
    }

    private func takeNews() -> Bool {
        let news = inbox.take()
        for growth in news.growth.values { followed.take(growth) }
        if news.mustLook { lookAt = .now }
        if news.hasGroupChanged { membership?.attendSoon() }
        return news.isWoken
    }

    private func connect() throws(LogError) -> PostgresConnection {
        do {
            return try session.connection()
        } catch {
            throw LogError(error)
        }
    }

    /// One round of everything that is due.
    private func look(over connection: PostgresConnection) throws(LogError) -> [LogEvent] {
        do {
            if connects != session.connects {
                let isFirst = connects == 0
                connects = session.connects
                lookAt = .now
                membership?.attendSoon()
                // What was read before the server went away must be looked at again.
                if !isFirst { followed.distrust() }
                if !isFirst, !followed.isEmpty { return followed.partitions.map { .interrupted($0) } }
            }
            let now = ContinuousClock.now
            var events: [LogEvent] = []
            if now >= membership?.heartbeatAt ?? now + .seconds(1) { events += try attend(over: connection) }
            if !unsaved.isEmpty, now >= saveAt { save(over: connection) }
            guard events.isEmpty else { return events }
            if now >= lookAt {
                followed.suspectAll()
                lookAt = now + log.configuration.lookInterval
            }
            return try followed.fetch(over: connection)
        } catch let error as PostgresError {
            throw LogError(error)
        } catch let error as LogError {
            throw error
        } catch {
            throw LogError(.closed, "\(error)")
        }
    }

    private func attend(over connection: PostgresConnection) throws(PostgresError) -> [LogEvent] {
        guard let changes = try membership?.attend(over: connection), let topic = membership?.group.topic else { return [] }
        for partition in changes.revoked { unfollow(TopicPartition(topic, partition)) }
        var events: [LogEvent] = []
        if !changes.revoked.isEmpty { events.append(.revoked(changes.revoked)) }
        if !changes.assigned.isEmpty { events.append(.assigned(changes.assigned)) }
        return events
    }

    // MARK: - Partitions

    func follow(_ partition: TopicPartition, from offset: Int64) {
        let key = key(partition)
        inbox.follow(key)
        log.bulletin.listen(to: key.topic)
        followed.follow(partition, key: key, from: offset)
    }

    func unfollow(_ partition: TopicPartition) {
        inbox.unfollow(key(partition))
        followed.unfollow(key(partition))
    }

    private func key(_ partition: TopicPartition) -> ConsumerInbox.Key {
        ConsumerInbox.Key(topic: catalog.id(partition.topic), partition: partition.partition)
    }

    func bounds(of partition: TopicPartition) throws(LogError) -> Range<Int64> {
        let key = key(partition)
        let rows = try ask(
            """
            SELECT first_offset, next_offset FROM log.partitions
            WHERE topic = \(key.topic) AND partition = \(Int16(key.partition))
            """)
        guard let (first, next) = try decoding({ () throws(PostgresError) in try rows.decode(Int64.self, Int64.self).first })
        else {
            throw LogError(.notProvisioned, "there is no \(partition)")
        }
        return first..<max(first, next)
    }

    func offset(of partition: TopicPartition, at time: Timestamp) throws(LogError) -> Int64 {
        let key = key(partition)
        let rows = try ask("SELECT log.offset_at(\(key.topic), \(Int16(key.partition)), \(time.milliseconds))")
        guard let offset = try decoding({ () throws(PostgresError) in try rows.column(Int64.self).first }) else {
            throw LogError(.notProvisioned, "there is no \(partition)")
        }
        return offset
    }

    private func ask(_ sql: SQL) throws(LogError) -> PostgresRows {
        guard !isClosed else { throw LogError(.closed, "the consumer is closed") }
        let connection = try connect()
        return try decoding { () throws(PostgresError) in try connection.query(sql) }
    }

    private func decoding<Value>(_ body: () throws(PostgresError) -> Value) throws(LogError) -> Value {
        do {
            return try body()
        } catch {
            if error.isOutage { available.store(false, ordering: .relaxed) }
            throw LogError(error)
        }
    }

    // MARK: - Positions of the group

    func commit(_ offsets: [TopicPartition: CommittedOffset]) {
        guard membership != nil else { return }
        unsaved.merge(offsets) { $1 }
        if let connection = session.current, ContinuousClock.now >= saveAt { save(over: connection) }
    }

    func committed(_ partitions: [TopicPartition]) throws(LogError) -> [TopicPartition: CommittedOffset] {
        guard let group = membership?.group.name else { return [:] }
        if !unsaved.isEmpty { save(over: try connect()) }
        let keys = partitions.map(key)
        let rows = try ask(
            """
            SELECT wanted.number, p."offset", p.metadata
            FROM unnest(\(keys.map(\.topic)), \(keys.map { Int16($0.partition) })) WITH ORDINALITY AS wanted(topic, partition, number)
            JOIN log.positions AS p ON p.group_name = \(group) AND p.topic = wanted.topic AND p.partition = wanted.partition
            """)
        let found = try decoding { () throws(PostgresError) in try rows.decode(Int.self, Int64.self, String.self) }
        return Dictionary(
            found.map { (partitions[$0.0 - 1], CommittedOffset(offset: $0.1, metadata: $0.2)) },
            uniquingKeysWith: { first, _ in first })
    }

    /// A failure is none: the next start takes longer.
    private func save(over connection: PostgresConnection) {
        guard let group = membership?.group.name else { return }
        let positions = unsaved.map { (key($0.key), $0.value) }.sorted {
            ($0.0.topic, $0.0.partition) < ($1.0.topic, $1.0.partition)
        }
        unsaved = [:]
        saveAt = .now + Self.saveInterval
        _ = try? connection.query(
            """
            INSERT INTO log.positions (group_name, topic, partition, "offset", metadata)
            SELECT \(group), topic, partition, "offset", metadata
            FROM unnest(
                \(positions.map(\.0.topic)), \(positions.map { Int16($0.0.partition) }),
                \(positions.map(\.1.offset)), \(positions.map(\.1.metadata))
            ) AS position(topic, partition, "offset", metadata)
            ON CONFLICT (group_name, topic, partition) DO UPDATE SET "offset" = excluded."offset", metadata = excluded.metadata
            """)
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        log.bulletin.remove(inbox)
        if let connection = session.current {
            if !unsaved.isEmpty { save(over: connection) }
            membership?.leave(over: connection)
        }
        session.close()
    }
}
