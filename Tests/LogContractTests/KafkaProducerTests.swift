import EventLog
import EventLogKafka
import EventSchema
import Testing

/// What a broker says of records that it does not take. librdkafka's mock cluster takes them in any order, as a broker does that
/// knows nothing of a producer.
@Suite struct KafkaProducerTests {
    private let cluster: KafkaMockCluster
    private let log: KafkaLog
    private static let partition = TopicPartition(.verificationEvents, 0)

    init() throws {
        cluster = try KafkaMockCluster(partitions: 1)
        log = KafkaLog(KafkaSettings(bootstrapServers: cluster.bootstrapServers))
        try log.provision(partitions: 1)
    }

    @Test func `a record of which no broker says where it stands is not acknowledged`() throws {
        let writer = try log.writer()
        cluster.refuseAppends([.duplicate])
        #expect(throws: LogError.self) { try writer.append("said to be there", to: Self.partition) }
        #expect(try writer.append("next", to: Self.partition).offset == 0)
    }

    @Test func `what is acknowledged stands where it is said to, in its order, whatever was refused first`() throws {
        for round in 0..<10 {
            let writer = try log.writer()
            cluster.refuseAppends([.notLeader])
            let records = (0..<50).map { OutgoingRecord("\(round) \($0)", to: Self.partition) }
            #expect(try writer.append(records).map(\.offset) == (0..<50).map { Int64(round * 50 + $0) })
        }
        let read = try log.reader().read(Self.partition).map(\.text)
        #expect(read == (0..<10).flatMap { round in (0..<50).map { "\(round) \($0)" } })
    }
}
