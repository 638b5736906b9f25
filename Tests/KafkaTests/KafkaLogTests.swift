import Crypto
import EventLog
import EventLogKafka
import EventSchema
import Foundation
import Runtime
import Testing

/// Bootstrap servers of a real Kafka, where there is one.
private let servers = ProcessInfo.processInfo.environment["LATCHKEY_TEST_KAFKA"]

@Suite(.enabled(if: servers != nil, "no Kafka: LATCHKEY_TEST_KAFKA names none"), .serialized)
struct `A log on a real Kafka` {
    static let log = KafkaLog(KafkaSettings(bootstrapServers: servers ?? ""))

    static func record(_ text: String, partition: Int = 0) -> OutgoingRecord {
        OutgoingRecord(
            partition: TopicPartition(.verificationCommands, partition), key: [1, 2],
            headers: [Header("a", "b"), Header("a", [])],
            value: Array(text.utf8))
    }

    static func append(_ records: [OutgoingRecord], to producer: any LogProducer) throws -> [Appended] {
        let outcomes = Mailbox<(Int, Result<Appended, LogError>)>()
        for (index, record) in records.enumerated() { producer.append(record) { outcomes.send((index, $0)) } }
        var done: [Int: Appended] = [:]
        while done.count < records.count {
            for (index, outcome) in outcomes.receive(within: .seconds(20)) { done[index] = try outcome.get() }
        }
        return records.indices.map { done[$0]! }
    }

    @Test func `is provisioned twice to the same effect`() throws {
        try Self.log.provision(partitions: 12)
        let first = try Self.log.describe()
        try Self.log.provision(partitions: 12)
        #expect(try Self.log.describe() == first)
        #expect(first.partitions == 12)
        #expect(throws: LogError.self) { try Self.log.provision(partitions: 7) }
    }

    private static let tool = ProcessInfo.processInfo.environment["LATCHKEY_TEST_KAFKA_TOOL"]

    @Test(.enabled(if: tool != nil, "no tool to make topics with: LATCHKEY_TEST_KAFKA_TOOL names none"))
    func `is not taken where a topic keeps the times of producers`() throws {
        let prefix = "stamps-\(Hex.encode(Random.bytes(4)))."
        let making = Process()
        making.executableURL = URL(fileURLWithPath: try #require(Self.tool))
        making.arguments = [
            "tool", "org.apache.kafka.tools.TopicCommand", "--bootstrap-server", servers ?? "", "--create", "--topic",
            "\(prefix)replies", "--partitions", "3", "--config", "message.timestamp.type=CreateTime",
        ]
        making.standardOutput = FileHandle.nullDevice
        try making.run()
        making.waitUntilExit()
        #expect(making.terminationStatus == 0)
        let log = KafkaLog(KafkaSettings(bootstrapServers: servers ?? "", prefix: prefix))
        let error = #expect(throws: LogError.self) { try log.provision(partitions: 3) }
        #expect(error?.code == .misconfigured)
        #expect(error?.reason == "the topic replies has message.timestamp.type=CreateTime and must have LogAppendTime")
        #expect(#expect(throws: LogError.self) { try log.describe() }?.code == .misconfigured)
    }

    @Test func `keeps records as they were given, in their order`() throws {
        try Self.log.provision(partitions: 12)
        let producer = try Self.log.makeProducer(client: "test")
        defer { producer.close() }
        let consumer = try Self.log.makeConsumer(client: "test", group: nil)
        defer { consumer.close() }
        let partition = TopicPartition(.verificationCommands, 0)
        let start = try consumer.bounds(of: partition).upperBound
        let appended = try Self.append((0..<100).map { Self.record("record \($0)") }, to: producer)
        #expect(appended.map(\.offset) == Array(start..<start + 100))
        consumer.follow(partition, from: start)
        var read: [Record] = []
        var end: Int64?
        while end == nil {
            for event in try consumer.poll(timeout: .seconds(5)) {
                switch event {
                case .records(_, let records): read += records
                case .reachedEnd(_, let offset) where offset == start + 100: end = offset
                default: break
                }
            }
        }
        #expect(read.map(\.offset) == appended.map(\.offset))
        #expect(read.map(\.time) == appended.map(\.time))
        #expect(read.first?.headers == [Header("a", "b"), Header("a", [])])
        #expect(read.first?.key == [1, 2])
        #expect(try consumer.offset(of: partition, at: read[0].time) <= read[0].offset)
    }

    @Test func `shares the partitions of a group's topic and keeps its positions`() throws {
        try Self.log.provision(partitions: 12)
        let group = ConsumerGroup(name: "test-\(Hex.encode(Random.bytes(4)))", topic: .verificationCommands)
        let first = try Self.log.makeConsumer(client: "first", group: group)
        var shares: [Int: Set<Int>] = [:]
        func take(_ events: [LogEvent], _ member: Int) {
            for event in events {
                switch event {
                case .assigned(let partitions): shares[member, default: []].formUnion(partitions)
                case .revoked(let partitions): shares[member, default: []].subtract(partitions)
                default: break
                }
            }
        }
        while shares[1]?.count != 12 { take(try first.poll(timeout: .seconds(1)), 1) }
        let partition = TopicPartition(.verificationCommands, 3)
        first.commit([partition: CommittedOffset(offset: 5, metadata: "five")])
        while try first.committed([partition])[partition]?.metadata != "five" { _ = try first.poll(timeout: .milliseconds(50)) }

        let second = try Self.log.makeConsumer(client: "second", group: group)
        defer { second.close() }
        while shares[1]?.count != 6 || shares[2]?.count != 6 {
            take(try first.poll(timeout: .milliseconds(100)), 1)
            take(try second.poll(timeout: .milliseconds(100)), 2)
        }
        #expect(shares[1]!.isDisjoint(with: shares[2]!))
        first.close()
        while shares[2]?.count != 12 { take(try second.poll(timeout: .seconds(1)), 2) }
        #expect(try second.committed([partition])[partition] == CommittedOffset(offset: 5, metadata: "five"))
    }

    @Test func `says where a partition ends, and when it does not reach so far`() throws {
        try Self.log.provision(partitions: 12)
        let consumer = try Self.log.makeConsumer(client: "test", group: nil)
        defer { consumer.close() }
        let partition = TopicPartition(.notifierCommands, 0)
        consumer.follow(partition, from: 1_000)
        while true {
            let events = try consumer.poll(timeout: .seconds(5))
            if events.contains(where: { if case .outOfRange(partition, 0, 0) = $0 { true } else { false } }) { break }
        }
        consumer.follow(partition, from: 0)
        while true {
            let events = try consumer.poll(timeout: .seconds(5))
            if events.contains(where: { if case .reachedEnd(partition, 0) = $0 { true } else { false } }) { break }
        }
    }
}
