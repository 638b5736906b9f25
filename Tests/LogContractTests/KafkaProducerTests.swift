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

    @Test func `what is acknowledged stands where it is said to, in its order, whichever first request is refused`() throws {
        // Each record is a request of its own, as stragglers of a group are.
        let log = try log(["batch.num.messages": "1"])
        for refused in 0..<Self.partitions {
            let writer = try log.writer()
            cluster.refuseAppends(Array(repeating: nil, count: refused) + [.notLeader])
            let places = (0..<3).flatMap { number in Self.events.map { (number, $0) } }
            let appended = try writer.append(places.map { OutgoingRecord("\(refused) \($0)", to: $1) })
            #expect(appended.map(\.offset) == places.map { Int64(refused * 3 + $0.0) })
        }
        let reader = try log.reader()
        let written = (0..<Self.partitions).flatMap { refused in (0..<3).map { "\(refused) \($0)" } }
        for partition in Self.events { #expect(try reader.read(partition).map(\.text) == written) }
    }
}
