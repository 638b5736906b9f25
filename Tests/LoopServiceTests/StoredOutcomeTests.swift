import EventSchema
import Postgres
import Projections
import TestSupport
import Testing

@testable import EventLog

/// What a projection in Postgres keeps of commands that may come again.
@Suite struct StoredOutcomeTests {
    private static let time = Timestamp(milliseconds: 1_800_000_000_000)
    private let database: TestDatabase
    private let store: PostgresProjectionStore<NoTables>

    init() throws {
        database = try TestDatabase.create()
        try Migrations.projection(schema: "things", files: []).apply(over: database.connect())
        store = PostgresProjectionStore(
            NoTables(), connection: PostgresConnection.Configuration(database.connectionString, applicationName: "test"))
    }

    @Test func `every outcome is known again, whether anybody is told of it here or not`() throws {
        let ids = (0..<5).map { _ in MessageID.random() }
        let events = [
            try event(1, .own, command: ids[0]), try event(2, .elsewhere, command: ids[1]),
            try event(
                3, .silent, command: ids[2],
                refused: [
                    RefusedCommand(id: ids[3], code: "full", fingerprint: [1], remember: .seconds(60)),
                    RefusedCommand(id: ids[4], code: nil, fingerprint: [2], remember: .seconds(60)),
                ]),
        ]
        try project(events)
        let known = try load(ids, partition: 0)
        #expect(known[ids[0]] == .committed(.own(Answer(data: Array("told".utf8)))))
        #expect(known[ids[1]] == .committed(.elsewhere(Answer(data: Array("told there".utf8)))))
        #expect(known[ids[2]] == .committed(.none))
        #expect(known[ids[3]] == .refused("full"))
        #expect(known[ids[4]] == .expired([2]))
        // In another partition the same id is another command.
        #expect(try load(ids, partition: 1).isEmpty)
    }

    @Test func `what led to an event led to it for good, and a refusal may be learnt better`() throws {
        let (first, second) = (MessageID.random(), MessageID.random())
        func refused(_ id: MessageID, _ code: String?) -> RefusedCommand {
            RefusedCommand(id: id, code: code, fingerprint: [3], remember: .seconds(60))
        }
        try project([try event(1, .own, command: first, refused: [refused(second, nil)])])
        try project(
            [
                try event(2, .silent, refused: [refused(first, "full"), refused(second, "empty")]),
                try event(3, .silent, command: second),
            ],
            after: 1)
        #expect(try load([first, second], partition: 0)[first] == .committed(.own(Answer(data: Array("told".utf8)))))
        #expect(try load([first, second], partition: 0)[second] == .committed(.none))
    }

    @Test func `it is forgotten when it cannot come again, which is after a day at most`() throws {
        let (first, second) = (MessageID.random(), MessageID.random())
        try project([try event(1, .own, command: first), try event(2, .own, command: second, remember: .max)])
        try project([try event(3, .own, appended: Self.time + .minutes(2))], after: 2)
        #expect(Set(try load([first, second], partition: 0).keys) == [second])
        try project([try event(4, .own, appended: Self.time + .hours(25))], after: 3)
        #expect(try load([first, second], partition: 0).isEmpty)
    }

    // MARK: Events

    private func position(_ sequence: Int64) -> ChainPosition {
        let head = ChainHead(
            sequence: sequence, hash: [UInt8](repeating: UInt8(sequence), count: 32), offset: sequence - 1, key: 1)
        return ChainPosition(offset: sequence, head: head)
    }

    private func event(
        _ sequence: Int64, _ event: WhoTells, command: MessageID? = nil, refused: [RefusedCommand] = [], remember: Int64 = 60_000,
        appended: Timestamp = StoredOutcomeTests.time
    ) throws -> ConfirmedEvent<WhoTells> {
        let partition = TopicPartition(.verificationEvents, 0)
        let draft = EventDraft(
            id: .random(), body: NoTables().domain.encode(event), key: [], time: appended, inboxes: InboxPositions(), writer: "a",
            service: .verification, speculation: 0, causation: command, traceParent: nil, replyTo: nil, deadline: nil,
            remember: .milliseconds(remember), refused: refused)
        let record = draft.record(after: position(sequence - 1).head, in: partition, by: try EventRelay.authenticator())
        let landed = Record(
            partition: partition, offset: sequence - 1, time: appended, key: record.key, headers: record.headers,
            value: record.value)
        return ConfirmedEvent(event: event, envelope: try #require(EventEnvelope(landed)), position: position(sequence))
    }

    /// Projects into partition 0.
    private func project(_ events: [ConfirmedEvent<WhoTells>], after: Int64 = 0) throws {
        let last = try #require(events.last)
        let batch = ProjectionBatch(
            from: after == 0 ? nil : position(after), to: Checkpoint(position: last.position, answersFrom: last.position),
            events: events)
        _ = try store.checkpoints(of: [0])
        guard case .projected = try store.project([0: batch])[0] else {
            Issue.record("it was not projected")
            return
        }
    }

    private func load(_ commands: [MessageID], partition: Int) throws -> [MessageID: CommandOutcome] {
        try #require(try store.load([partition: LoadRequest(keys: [], commands: commands)])[partition]).known
    }
}

/// Events that differ in who tells their commands' senders.
enum WhoTells: String, Sendable {
    case own, elsewhere, silent
}

struct NoTables: ProjectionTables {
    struct Domain: PartitionDomain {
        func read(_ message: InboxMessage) -> Reading<WhoTells> { .ignored }
        func key(of event: WhoTells) -> String { "" }
        var initial: Int { 0 }
        func decide(_ input: WhoTells, at now: Timestamp, given aggregate: Int) -> Decision<WhoTells> { .nothing }
        func evolve(_ aggregate: inout Int, with event: WhoTells, at now: Timestamp) {}
        func isSpent(_ aggregate: Int, at now: Timestamp) -> Bool { true }
        func encode(_ event: WhoTells) -> EventBody { EventBody(type: event.rawValue, subject: nil, data: []) }
        func decode(_ body: EventBody) throws(UnreadableBody) -> WhoTells {
            guard let event = WhoTells(rawValue: body.type) else { throw UnreadableBody(type: body.type, reason: "unknown") }
            return event
        }
        func answer(to event: WhoTells) -> Answer? { event == .own ? Answer(data: Array("told".utf8)) : nil }
        func answerElsewhere(to event: WhoTells) -> Answer? {
            event == .elsewhere ? Answer(data: Array("told there".utf8)) : nil
        }
        func answer(forRefusal code: String) -> Answer? { Answer(data: Array(code.utf8)) }
    }

    var domain: Domain { Domain() }
    var schema: String { "things" }
    func reading(_ keys: [String]) -> SQL { "SELECT 1 WHERE false" }
    func aggregates(in rows: PostgresRows) throws(PostgresError) -> [String: Int] { [:] }
    func writing(_ events: [ConfirmedEvent<WhoTells>], where passed: SQL) -> [SQL] { [] }
}
