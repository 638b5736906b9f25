import EventLog
import EventLogSimulated
import EventSchema
import Postgres
import Projections
import Synchronization
import TestSupport
import Testing

@Suite struct InboxMarksTests {
    private static let settings = LoopSettings(
        service: .notifier, storage: .projection, inboxes: [.notifierCommands, .verificationEvents], events: .notifierEvents)

    private let database: TestDatabase
    private let clock = SettableClock()
    private let log: SimulatedLog

    init() throws {
        database = try TestDatabase.create()
        log = SimulatedLog(partitions: 2, now: { [clock] in clock.now })
        try Migrations.projection(schema: "notifier", files: []).apply(over: database.connect())
    }

    /// Marks of an instance that has read so far in one partition.
    private func marks(
        _ partition: Int, events: Int64, commands: Int64, others: [InboxMarks.Reader] = []
    ) -> InboxMarks {
        var positions = InboxPositions()
        positions.commands[.notifierCommands] = CommandPosition(offset: commands, time: Timestamp(milliseconds: 0))
        let head = ChainHead(sequence: events, hash: [UInt8](repeating: 0, count: 32), offset: events - 1, key: 1)
        positions.events[.verificationEvents] = ChainPosition(offset: events, head: head)
        var shown = PartitionStatus()
        shown.inboxes = positions
        var status = LoopStatus()
        status.partitions = [partition: shown]
        return InboxMarks(
            log: log, schema: "notifier", database: .init(database.connectionString, applicationName: "test"),
            settings: Self.settings, status: { [status] in status }, others: others)
    }

    private func append(_ topic: Topic, _ partition: Int) throws {
        let producer = try log.makeProducer(client: "test")
        producer.append(OutgoingRecord(partition: TopicPartition(topic, partition), key: [], headers: [], value: [])) { _ in }
        producer.flush(within: .seconds(5))
        producer.close()
    }

    @Test func `an inbox that is empty is read`() {
        #expect(marks(0, events: 0, commands: 0).areRead(past: clock.now))
    }

    @Test func `every inbox in every partition counts, whoever reads it`() throws {
        for partition in 0...1 {
            try append(.verificationEvents, partition)
            try append(.notifierCommands, partition)
        }
        let time = clock.now + .seconds(1)
        #expect(!marks(0, events: 1, commands: 1).areRead(past: time))
        #expect(!marks(1, events: 1, commands: 0).areRead(past: time))
        #expect(marks(1, events: 1, commands: 1).areRead(past: time))
        // Nobody goes back.
        #expect(marks(1, events: 0, commands: 0).areRead(past: time))
    }

    @Test func `who reads beside the loop counts with marks of their own`() throws {
        try append(.verificationEvents, 1)
        let time = clock.now + .seconds(1)
        let place = TopicPartition(.verificationEvents, 1)
        func marks(beside offset: Int64) -> InboxMarks {
            self.marks(
                1, events: 1, commands: 0,
                others: [InboxMarks.Reader(name: "checks", topics: [.verificationEvents], offsets: { [place: offset] })])
        }
        #expect(!marks(beside: 0).areRead(past: time))
        #expect(marks(beside: 1).areRead(past: time))
        #expect(marks(beside: 0).areRead(past: time))
    }

    @Test func `what came later does not count`() throws {
        try append(.verificationEvents, 0)
        clock.advance(by: .minutes(10))
        let time = clock.now - .minutes(5)
        try append(.verificationEvents, 0)
        #expect(marks(0, events: 1, commands: 0).areRead(past: time))
        #expect(!marks(0, events: 1, commands: 0).areRead(past: clock.now + .seconds(1)))
    }

    @Test func `what retention has removed is not waited for`() throws {
        try append(.notifierCommands, 0)
        try append(.notifierCommands, 0)
        log.retain(TopicPartition(.notifierCommands, 0), from: 2)
        #expect(marks(0, events: 0, commands: 0).areRead(past: clock.now + .seconds(1)))
    }

    @Test func `where it cannot be told, it is not read`() throws {
        log.isAvailable = false
        #expect(!marks(0, events: 0, commands: 0).areRead(past: clock.now))
    }
}
