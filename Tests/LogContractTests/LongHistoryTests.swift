import Crypto
import EventSchema
import Foundation
import Postgres
import Runtime
import Synchronization
import TestSupport
import Testing

@testable import EventLog
@testable import EventLogPostgres

/// What a start costs does not grow with the age of a log.
///
/// `LATCHKEY_OLD_EVENTS=10000000` tries it with so many old events (they take some 4 GB; 60,000 are the least whose window has a
/// beginning) and prints how long starts take.
@Suite struct `A log with a long history` {
    private static let asked = ProcessInfo.processInfo.environment["LATCHKEY_OLD_EVENTS"].flatMap { Int($0) }
    private static let partitions = 12
    private static let patience = Duration.seconds(asked == nil ? 600 : 3_600)
    private static let authenticator = Result { try EventRelay.authenticator() }

    @Test func `is read from the last window on by a start`() async throws {
        let database = try TestDatabase.create()
        let configuration = PostgresLog.Configuration.hasty(database)
        let log = PostgresLog(configuration)
        let description = try PostgresLog.provision(configuration, partitions: Self.partitions)
        let old = (Self.asked ?? 24_000) / Self.partitions
        for partition in 0..<Self.partitions {
            try Self.append(old, to: TopicPartition(.verificationEvents, partition), of: description, on: database.connect())
        }
        let window = Interval.minutes(Self.asked == nil ? 5 : 60)
        // Nobody has committed a position yet: everything is read.
        let first = try await start(on: log, window: window) {
            let connection = try database.connect()
            #expect(try await waitUntil(within: Self.patience) { try Self.positions(connection) == Self.partitions })
        }
        #expect(first.records >= old * Self.partitions)
        let second = try await start(on: log, window: window) {}
        // An event lets at most a second pass, so this is how many lie in what a start reads: the window and the longest budget;
        // a tenth of it more, as positions are noted so often; and what came since.
        let recent = Self.partitions * ((Int(window.milliseconds / 1_000) + 10) * 11 / 10 + 30)
        #expect(second.records <= recent, "\(second.records) records were read")
        if Self.asked != nil { print("\(old * Self.partitions) old events: first start \(first), second start \(second)") }
    }

    struct Start: CustomStringConvertible {
        var records: Int
        var took: Duration
        var description: String { "\(took) for \(records) records" }
    }

    /// From the start of a loop until it owns everything and decides.
    private func start(
        on log: any EventLog, window: Interval, until: () async throws -> Void
    ) async throws -> Start {
        let counting = CountingLog(log)
        let driver = LoopDriver(
            log: counting, domain: RelayDomain(),
            settings: LoopSettings(
                service: .verification, storage: .memory(window: window), inboxes: [.verificationCommands],
                events: .verificationEvents),
            authenticator: try Self.authenticator.get(), store: NoProjection(), writer: MessageID.random().text
        ) { _ in }
        let begin = ContinuousClock.now
        let work: @Sendable (StopFlag) throws -> Void = { _ in try driver.run() }
        let thread = WorkerThread(name: "start", wake: { driver.stop() }, work)
        thread.start()
        defer {
            thread.stop.raise()
            driver.stop()
            _ = thread.join(within: .seconds(30))
        }
        #expect(try await waitUntil(within: Self.patience) { driver.status.ready.count == Self.partitions })
        let started = Start(records: counting.records, took: .now - begin)
        try await until()
        return started
    }

    private static func positions(_ connection: PostgresConnection) throws -> Int {
        try connection.query(
            "SELECT count(*) FROM log.positions WHERE topic IN (SELECT id FROM log.topics WHERE name = 'verification.events')"
        )
        .column(Int.self)[0]
    }

    /// A chain of events, a second after each other, the last of them a day ago; written as records without the log's help.
    private static func append(
        _ count: Int, to partition: TopicPartition, of log: LogDescription, on connection: PostgresConnection
    ) throws {
        connection.statementTimeout = .seconds(600)
        let authenticator = try authenticator.get()
        let topic = try connection.query("SELECT id FROM log.topics WHERE name = \(partition.topic.rawValue)").column(Int16.self)[
            0]
        let last = WallClock.now() - 86_400_000
        var head = ChainHead.genesis(of: partition, in: log.id)
        for batch in stride(from: 0, to: count, by: 5_000) {
            let numbers = batch..<min(batch + 5_000, count)
            var records: [OutgoingRecord] = []
            for number in numbers {
                let time = Timestamp(milliseconds: last - Int64(count - number) * 1_000)
                let record = EventDraft(
                    id: .random(), body: EventBody(type: "latchkey.test.happened.v1", subject: "subject", data: Array("{}".utf8)),
                    key: [1, 2, 3, 4, 5, 6], time: time, inboxes: InboxPositions(), writer: "history", service: .verification,
                    speculation: 1, causation: .random(), remember: .zero, refused: []
                ).record(after: head, in: partition, by: authenticator)
                head = ChainHead(sequence: head.sequence + 1, hash: record.hash, offset: Int64(number), key: head.key)
                records.append(record)
            }
            try connection.query(
                """
                INSERT INTO log.lasting_records (topic, partition, "offset", time, key, headers, value)
                SELECT \(topic), \(Int16(partition.partition)), number, time, key, headers, value
                FROM unnest(\(numbers.map { Int64($0) }), \(numbers.map { last - Int64(count - $0) * 1_000 }),
                    \(records.map(\.key)), \(records.map { HeaderCoding.encode($0.headers) }), \(records.map(\.value)))
                    AS batch(number, time, key, headers, value)
                """)
        }
        try connection.query(
            """
            UPDATE log.partitions SET next_offset = \(Int64(count)), last_time = \(last)
            WHERE topic = \(topic) AND partition = \(Int16(partition.partition))
            """)
    }
}

/// Passes everything on, and counts the records that are read.
private final class CountingLog: EventLog {
    private let log: any EventLog
    private let count = Atomic<Int>(0)
    var records: Int { count.load(ordering: .relaxed) }

    init(_ log: any EventLog) { self.log = log }

    func describe() throws(LogError) -> LogDescription { try log.describe() }
    func makeProducer(client: String) throws(LogError) -> any LogProducer { try log.makeProducer(client: client) }

    func makeConsumer(client: String, group: ConsumerGroup?) throws(LogError) -> any LogConsumer {
        Consumer(try log.makeConsumer(client: client, group: group), self)
    }

    private final class Consumer: LogConsumer {
        private let consumer: any LogConsumer
        private let log: CountingLog

        init(_ consumer: any LogConsumer, _ log: CountingLog) {
            self.consumer = consumer
            self.log = log
        }

        func poll(timeout: Duration) throws(LogError) -> [LogEvent] {
            let events = try consumer.poll(timeout: timeout)
            for case .records(_, let records) in events { log.count.add(records.count, ordering: .relaxed) }
            return events
        }

        var isAvailable: Bool { consumer.isAvailable }
        func follow(_ partition: TopicPartition, from offset: Int64) { consumer.follow(partition, from: offset) }
        func unfollow(_ partition: TopicPartition) { consumer.unfollow(partition) }
        func bounds(of partition: TopicPartition) throws(LogError) -> Range<Int64> { try consumer.bounds(of: partition) }
        func offset(of partition: TopicPartition, at time: Timestamp) throws(LogError) -> Int64 {
            try consumer.offset(of: partition, at: time)
        }
        func committed(_ partitions: [TopicPartition]) throws(LogError) -> [TopicPartition: CommittedOffset] {
            try consumer.committed(partitions)
        }
        func commit(_ offsets: [TopicPartition: CommittedOffset]) { consumer.commit(offsets) }
        func wake() { consumer.wake() }
        func close() { consumer.close() }
    }
}
