import Crypto
import EventLog
import EventSchema
import Runtime
import Testing

/// A log with valid events, and records among them that count for nothing.
private final class Chains {
    let under: LogUnderTest
    let authenticator: RecordAuthenticator
    private let writer: Writer
    private var chains: [TopicPartition: ChainWriter] = [:]

    static let keys: [UInt32: Secret] = [1: Secret([UInt8](repeating: 7, count: 32))]

    init(_ backend: LogBackend, partitions: Int = 2) throws {
        under = try backend.make(partitions)
        authenticator = try RecordAuthenticator(keys: Self.keys)
        writer = try under.anotherProcess().writer()
    }

    /// Appends events, each followed by a copy, which is void.
    func append(_ numbers: Range<Int>, to partition: TopicPartition) throws {
        var chain =
            try chains[partition]
            ?? ChainWriter(
                partition, after: .genesis(of: partition, in: under.log.describe().id), authenticator: authenticator,
                writer: "test")
        var records: [OutgoingRecord] = []
        for number in numbers {
            let record = chain.append(
                EventBody(type: "test.v1", subject: nil, data: Array("{\"n\":\(number)}".utf8)), id: .random(),
                key: [1, 2, 3, 4, 5, 6], at: Timestamp(milliseconds: Int64(number)), inboxes: InboxPositions())
            records += [record, record]
        }
        chains[partition] = chain
        try writer.append(records)
    }

    func scan(_ authenticator: RecordAuthenticator? = nil) throws -> ChainScan {
        try ChainScan(under.log, authenticator: authenticator ?? self.authenticator, client: "scan")
    }
}

/// What a scan brought.
private struct Found {
    var sequences: [TopicPartition: [Int64]] = [:]
    var times: [Timestamp] = []
    var void = 0
    var positions: [TopicPartition: ChainPosition] = [:]
    var lasts: Set<TopicPartition> = []

    mutating func take(_ batches: [ChainScan.Batch]) {
        for batch in batches {
            sequences[batch.partition, default: []] += batch.events.map(\.sequence)
            times += batch.events.map(\.appended)
            void += batch.void.values.reduce(0, +)
            positions[batch.partition] = batch.position
            if batch.isLast { lasts.insert(batch.partition) }
        }
    }

    init() {}

    /// Reads until all is done.
    init(_ scan: ChainScan) throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while !scan.isDone {
            guard ContinuousClock.now < deadline else { throw Reader.Timeout() }
            take(try scan.next(within: .milliseconds(200)))
        }
    }
}

@Suite struct `Scanning chains` {
    static let first = TopicPartition(.identityEvents, 0)
    static let second = TopicPartition(.identityEvents, 1)

    @Test(arguments: LogBackend.all)
    func `finds every valid event once up to where it should, and goes on there`(backend: LogBackend) throws {
        let chains = try Chains(backend)
        try chains.append(0..<300, to: Self.first)
        try chains.append(0..<3, to: Self.second)
        let scan = try chains.scan()
        #expect(scan.partitions(of: .identityEvents) == 2)
        for partition in [Self.first, Self.second] { scan.follow(partition, upTo: try scan.end(of: partition)) }
        // What comes meanwhile is not read.
        try chains.append(300..<310, to: Self.first)
        let found = try Found(scan)
        #expect(found.sequences == [Self.first: Array(1...300), Self.second: [1, 2, 3]])
        #expect(found.void == 303)
        #expect(found.lasts == [Self.first, Self.second])
        #expect(try scan.next(within: .seconds(1)).isEmpty)

        let again = try chains.scan()
        again.follow(Self.first, from: found.positions[Self.first], upTo: try again.end(of: Self.first))
        #expect(try Found(again).sequences == [Self.first: Array(301...310)])
        // Nothing is left, except to see that it is the same log.
        let position = again.position(of: Self.first)
        again.follow(Self.first, from: position, upTo: position?.offset)
        #expect(try Found(again).sequences[Self.first]?.isEmpty ?? true)
    }

    @Test(arguments: LogBackend.all)
    func `is done at once with nothing to read`(backend: LogBackend) throws {
        let scan = try Chains(backend).scan()
        scan.follow(Self.first, upTo: 0)
        #expect(scan.isDone)
    }

    @Test(arguments: LogBackend.all)
    func `follows what comes`(backend: LogBackend) throws {
        let chains = try Chains(backend)
        let scan = try chains.scan()
        scan.follow(Self.first)
        var found = Found()
        func read(until isDone: (Found) -> Bool) throws {
            let deadline = ContinuousClock.now + .seconds(60)
            while !isDone(found) {
                guard ContinuousClock.now < deadline else { throw Reader.Timeout() }
                found.take(try scan.next(within: .milliseconds(200)))
            }
        }
        try read { $0.lasts == [Self.first] }
        try chains.append(0..<5, to: Self.first)
        try read { $0.sequences[Self.first]?.count == 5 }
        #expect(!scan.isDone)
    }

    @Test(arguments: LogBackend.whole)
    func `leaves out what is older than it is asked for`(backend: LogBackend) throws {
        let chains = try Chains(backend)
        try chains.append(0..<20, to: Self.first)
        var all = try chains.scan()
        all.follow(Self.first, upTo: 40)
        let times = try Found(all).times
        let since = times[10]
        all = try chains.scan()
        all.follow(Self.first, since: since, upTo: 40)
        #expect(try Found(all).times == times.filter { $0 >= since })
    }

    @Test(arguments: LogBackend.all)
    func `tells another log from the one that it read`(backend: LogBackend) throws {
        let chains = try Chains(backend)
        try chains.append(0..<20, to: Self.first)
        let scan = try chains.scan()
        scan.follow(Self.first, upTo: 40)
        var position = try #require(try Found(scan).positions[Self.first])
        position.head.hash[0] ^= 1
        scan.follow(Self.first, from: position)
        let error = try #require(throws: LogError.self) { while true { _ = try scan.next(within: .seconds(1)) } }
        #expect(error.code == .truncated)

        // One that ends before it.
        position.head.offset += 100
        position.offset += 100
        let other = try chains.scan()
        other.follow(Self.first, from: position)
        let shorter = try #require(throws: LogError.self) { while true { _ = try other.next(within: .seconds(1)) } }
        #expect(shorter.code == .truncated)
    }

    @Test func `stops where a key is not held`() throws {
        let chains = try Chains(.simulated)
        try chains.append(0..<2, to: Self.first)
        let scan = try chains.scan(RecordAuthenticator(keys: [2: Secret([UInt8](repeating: 9, count: 32))]))
        scan.follow(Self.first, upTo: 4)
        let error = try #require(throws: LogError.self) { while !scan.isDone { _ = try scan.next(within: .seconds(1)) } }
        #expect(error.code == .unreadable)
    }
}
