import EventLog
import EventSchema
import Testing

@testable import Sealing

@Suite struct FollowingTheTopic {
    private let partition = TopicPartition(.keys, 0)
    private let log = FakeLog(at: morning)
    private let consumer: FakeConsumer
    private var follower: KeyFollower

    init() throws {
        consumer = FakeConsumer(log)
        follower = KeyFollower(directory: KeyDirectory(authenticator: try authenticator()))
        follower.follow(on: consumer)
    }

    private mutating func apply(_ events: [LogEvent]) throws -> [String] {
        try follower.apply(events, from: consumer).map(\.key)
    }

    @Test mutating func `from the beginning, each record once`() throws {
        #expect(consumer.follows == [0])
        let records = try [key("a"), key("b"), key("c")].enumerated().map { try $1.record(at: Int64($0)) }
        #expect(try apply([.records(partition, Array(records[..<2]))]) == ["a", "b"])
        #expect(!follower.hasReachedEnd)
        #expect(try apply([.records(partition, records), .reachedEnd(partition, end: 3)]) == ["c"])
        #expect(follower.hasReachedEnd)
    }

    @Test mutating func `an empty topic has an end too`() throws {
        #expect(try apply([.reachedEnd(partition, end: 0)]).isEmpty)
        #expect(follower.hasReachedEnd)
    }

    @Test mutating func `other partitions are none of its business`() throws {
        let other = TopicPartition(.replies, 0)
        let events: [LogEvent] = [
            .assigned([1]), .revoked([1]), .records(other, [try key("a").record(at: 0)]), .reachedEnd(other, end: 1),
            .outOfRange(other, begin: 1, end: 2), .interrupted(other),
        ]
        #expect(try apply(events).isEmpty)
        #expect(!follower.hasReachedEnd && consumer.follows == [0])
    }

    @Test mutating func `void records are counted, and passed`() throws {
        var forged = try key("a").record(at: 0)
        forged.value.append(0)
        let records = [forged, try key("b").record(at: 1, by: 2...2), try key("c").record(at: 2)]
        #expect(try apply([.records(partition, records), .reachedEnd(partition, end: 3)]) == ["c"])
        #expect(follower.void == [.forged: 1, .unknownMACKey: 1])
        // Delivered twice, they are the same records.
        _ = try apply([.records(partition, records), .reachedEnd(partition, end: 3)])
        #expect(follower.void == [.forged: 1, .unknownMACKey: 1])
    }

    @Test mutating func `after an interruption it reads on where it was`() throws {
        let records = try [key("a"), key("b"), key("c")].enumerated().map { try $1.record(at: Int64($0)) }
        #expect(try apply([.records(partition, Array(records[..<2])), .reachedEnd(partition, end: 2)]) == ["a", "b"])
        #expect(try apply([.interrupted(partition), .reachedEnd(partition, end: 2)]).isEmpty)
        #expect(consumer.follows == [0, 1])
        #expect(try apply([.records(partition, Array(records[1...])), .reachedEnd(partition, end: 3)]) == ["c"])
    }

    @Test mutating func `so it does on a new consumer`() throws {
        let records = try [key("a"), key("b")].enumerated().map { try $1.record(at: Int64($0)) }
        _ = try apply([.records(partition, [records[0]])])
        follower.follow(on: consumer)
        #expect(consumer.follows == [0, 0])
        #expect(try apply([.records(partition, records), .reachedEnd(partition, end: 2)]) == ["b"])
    }

    @Test mutating func `another record in the place of the last one is noticed`() throws {
        _ = try apply([.records(partition, [try key("a").record(at: 0)])])
        _ = try apply([.interrupted(partition)])
        let events: [LogEvent] = [.records(partition, [try key("b").record(at: 0)])]
        #expect { try follower.apply(events, from: consumer) } throws: { ($0 as? LogError)?.code == .truncated }
    }

    @Test mutating func `a topic that became shorter is noticed`() throws {
        _ = try apply([.records(partition, [try key("a").record(at: 0)]), .reachedEnd(partition, end: 1)])
        let shorter: [[LogEvent]] = [[.reachedEnd(partition, end: 0)], [.outOfRange(partition, begin: 0, end: 0)]]
        for events in shorter {
            var follower = follower
            #expect { try follower.apply(events, from: consumer) } throws: { ($0 as? LogError)?.code == .truncated }
        }
        _ = try apply([.interrupted(partition)])
        #expect { try follower.apply([.reachedEnd(partition, end: 0)], from: consumer) } throws: {
            ($0 as? LogError)?.code == .truncated
        }
    }
}
