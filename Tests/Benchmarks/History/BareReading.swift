internal import EventLog
internal import EventSchema
internal import IdentityService
internal import LogBackends
internal import LoopService
internal import Runtime
internal import Synchronization

struct BareReading: Sendable {
    private let log: any EventLog
    private let authenticator: RecordAuthenticator

    init(_ configuration: IdentityConfiguration) throws {
        log = ConfiguredLog.make(configuration.common)
        authenticator = try RecordAuthenticator(configuration.common.macKeys)
    }

    /// Returns how many valid events there are.
    func run() throws -> Int {
        let count = Mutex(0)
        try onTwoThreads(try log.describe().partitions) { partition in
            let partition = TopicPartition(.identityEvents, partition)
            let scan = try ChainScan(log, authenticator: authenticator, client: "history")
            defer { scan.close() }
            scan.follow(partition, upTo: try scan.end(of: partition))
            while !scan.isDone {
                for batch in try scan.next(within: .seconds(1)) { count.withLock { $0 += batch.events.count } }
            }
        }
        return count.withLock { $0 }
    }
}
