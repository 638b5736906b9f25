import EventLog
import EventSchema
import Postgres
import TestSupport
import Testing

@testable import EventLogPostgres

@Suite struct `A partition that is followed in Postgres` {
    private static let partition = TopicPartition(.replies, 0)

    private let database: TestDatabase
    private let log: PostgresLog
    private let writer: Writer
    private let key: ConsumerInbox.Key
    private let connection: PostgresConnection

    init() throws {
        database = try TestDatabase.create()
        let configuration = PostgresLog.Configuration.hasty(database)
        try PostgresLog.provision(configuration, partitions: 1)
        log = PostgresLog(configuration)
        writer = try log.writer()
        connection = try database.connect()
        key = ConsumerInbox.Key(topic: try LogCatalog.load(over: connection).id(.replies), partition: 0)
        try writer.append((0..<3).map { OutgoingRecord("\($0)", to: Self.partition) })
    }

    private func own(_ offsets: Range<Int64>) -> Growth {
        let records = offsets.map {
            Record(
                partition: Self.partition, offset: $0, time: Timestamp(milliseconds: 0), key: [], headers: [],
                value: Array("handed \($0)".utf8))
        }
        return Growth(key, to: offsets.upperBound, by: records)
    }

    /// What a fetch delivers: texts of records, and where it told the end.
    private func fetched(_ followed: inout FollowedPartitions) throws -> [String] {
        try followed.fetch(over: connection).flatMap { event -> [String] in
            switch event {
            case .records(_, let records): records.map(\.text)
            case .reachedEnd(_, let end): ["end \(end)"]
            default: ["\(event)"]
            }
        }
    }

    private func following(_ from: Int64 = 0) -> FollowedPartitions {
        var followed = FollowedPartitions()
        followed.follow(Self.partition, key: key, from: from)
        return followed
    }

    @Test func `delivers what it is handed without a look, and where it ends`() throws {
        var followed = following()
        #expect(try fetched(&followed) == ["0", "1", "2", "end 3"])
        // The table has no such records: who looked would find nothing.
        followed.take(own(3..<5))
        #expect(try fetched(&followed) == ["handed 3", "handed 4", "end 5"])
        followed.take(own(5..<6))
        followed.take(own(6..<7))
        #expect(try fetched(&followed) == ["handed 5", "handed 6", "end 7"])
        #expect(try fetched(&followed).isEmpty)
    }

    @Test func `looks where it is behind, or was never looked at`() throws {
        var followed = following()
        followed.take(own(0..<3))
        #expect(try fetched(&followed) == ["0", "1", "2", "end 3"])
        try writer.append((3..<6).map { OutgoingRecord("\($0)", to: Self.partition) })
        followed.take(own(4..<6))
        #expect(try fetched(&followed) == ["3", "4", "5", "end 6"])
        followed.take(own(5..<6))
        #expect(try fetched(&followed).isEmpty)
    }

    @Test func `delivers once what it was handed and has found`() throws {
        var followed = following()
        _ = try fetched(&followed)
        try writer.append((3..<5).map { OutgoingRecord("\($0)", to: Self.partition) })
        followed.take(own(3..<4))
        followed.suspectAll()
        #expect(try fetched(&followed) == ["3", "4", "end 5"])
        #expect(try fetched(&followed).isEmpty)
    }

    @Test func `believes the table, not what it was handed before a server was lost`() throws {
        var followed = following()
        _ = try fetched(&followed)
        followed.take(own(3..<5))
        followed.distrust()
        #expect(try fetched(&followed).isEmpty)
        // Lost with the server, and looked for all the same.
        followed.take(own(3..<5))
        followed.suspectAll()
        #expect(try fetched(&followed).isEmpty)
    }

    @Test func `starts anew where it is followed anew`() throws {
        var followed = following()
        _ = try fetched(&followed)
        followed.take(own(3..<5))
        followed.follow(Self.partition, key: key, from: 1)
        #expect(try fetched(&followed) == ["1", "2", "end 3"])
        followed.unfollow(key)
        followed.take(own(3..<5))
        #expect(try fetched(&followed).isEmpty)
    }
}
