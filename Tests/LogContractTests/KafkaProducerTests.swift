import EventLog
import EventLogKafka
import EventSchema
import Testing

/// What a broker says of records that it does not take. librdkafka's mock cluster takes them in any order, as a broker does that
/// knows nothing of a producer.
@Suite struct KafkaProducerTests {
    private static let partitions = 6
    private static let events = (0..<partitions).map { TopicPartition(.verificationEvents, $0) }

    private let cluster: KafkaMockCluster

    init() throws { cluster = try KafkaMockCluster(partitions: Self.partitions) }

    private func log(_ properties: [String: String] = [:]) throws -> KafkaLog {
        let log = KafkaLog(KafkaSettings(bootstrapServers: cluster.bootstrapServers, properties: properties))
        try log.provision(partitions: Self.partitions)
        return log
    }

    /// Of those that are said to be doubles, all but the first have offsets that librdkafka made up.
    @Test func `records of which no broker says where they stand are not acknowledged`() throws {
        let writer = try log().writer()
        let own = Self.events[0]
        try writer.append("first", to: own)
        // The first keeps the others back, so that they leave together.
        cluster.refuseAppends([nil, .duplicate, .duplicate, .duplicate])
        let results = try writer.results(of: ["taken", "double", "double", "double"].map { OutgoingRecord($0, to: own) })
        #expect(try results[0].get().offset == 1)
        for result in results[1...] { #expect(throws: LogError.self) { try result.get() } }
        cluster.refuseAppends([])
        #expect(try writer.append("last", to: own).offset == 2)
    }

    /// A producer, and one that has broken and is another one from then on.
    @Test(arguments: [false, true])
    func `what is acknowledged stands where it is said to, in its order, whichever first request is refused`(
        breaks: Bool
    ) throws {
        // Each record is a request of its own, as stragglers of a group are.
        let log = try log(["batch.num.messages": "1"])
        let reader = try log.reader()
        for refused in 0..<Self.partitions {
            let writer = try log.writer()
            if breaks {
                try writer.append(Self.events.map { OutgoingRecord("known", to: $0) })
                cluster.refuseAppends([.outOfOrder])
                #expect(throws: LogError.self) { try writer.append("breaks", to: Self.events[0]) }
            }
            let start = try Self.events.map { try reader.consumer.bounds(of: $0).upperBound }
            cluster.refuseAppends(Array(repeating: nil, count: refused) + [.notLeader])
            let places = (0..<3).flatMap { number in Self.events.indices.map { (number, $0) } }
            let appended = try writer.append(places.map { OutgoingRecord("\($0)", to: Self.events[$1]) })
            #expect(appended.map(\.offset) == places.map { start[$0.1] + Int64($0.0) })
            for (partition, start) in zip(Self.events, start) {
                #expect(try reader.read(partition, from: start).map(\.text) == ["0", "1", "2"])
            }
        }
    }
}
