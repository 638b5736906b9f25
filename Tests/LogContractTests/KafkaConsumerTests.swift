import EventLog
import EventLogKafka
import EventSchema
import Testing

/// What brokers say of a partition's end.
@Suite struct KafkaConsumerTests {
    private static let (own, other) = (TopicPartition(.verificationEvents, 0), TopicPartition(.verificationEvents, 1))

    private let cluster: KafkaMockCluster
    private let log: KafkaLog

    init() throws {
        cluster = try KafkaMockCluster(brokers: 2, partitions: 2)
        log = KafkaLog(KafkaSettings(bootstrapServers: cluster.bootstrapServers))
        try log.provision(partitions: 2)
    }

    /// A new leader learns only from its followers how much of what it holds is committed.
    @Test(arguments: [0, 2] as [Int64])
    func `an end that lies before what was read is not told while a broker is only behind`(stale: Int64) throws {
        let writer = try log.writer()
        for text in ["a", "b", "c"] { try writer.append(text, to: Self.own) }
        let before = try log.reader()
        #expect(try before.read(Self.own).map(\.text) == ["a", "b", "c"])

        for partition in [Self.own, Self.other] { cluster.setLeader(of: partition, to: 1) }
        cluster.setReader(of: Self.other, to: 2, endingAt: -1)
        cluster.setReader(of: Self.own, to: 2, endingAt: stale)
        let reader = try log.reader()
        // As whoever looks whether the record before the place is still there.
        reader.consumer.follow(Self.own, from: stale)
        reader.consumer.follow(Self.other, from: 0)
        // What is read beside it passes the same broker.
        for count in 1...3 {
            try writer.append("beside", to: Self.other)
            try reader.poll { $0.count(Self.other) == count }
        }
        #expect(reader.ends[Self.own] == nil)

        cluster.setReader(of: Self.own, to: 2, endingAt: -1)
        try reader.poll { $0.ends[Self.own] != nil }
        #expect(reader.ends[Self.own] == [3])
        #expect(reader.records[Self.own]?.last?.text == "c")
    }

    @Test func `the end of an empty partition is told, and those that follow`() throws {
        let reader = try log.reader()
        reader.consumer.follow(Self.own, from: 0)
        try reader.poll { $0.ends[Self.own] == [0] }
        let writer = try log.writer()
        for end in 1...3 as ClosedRange<Int64> {
            try writer.append("a", to: Self.own)
            try reader.poll { $0.ends[Self.own]?.last == end }
        }
    }
}
