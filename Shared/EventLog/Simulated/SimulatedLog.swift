public import Crypto
public import EventLog
public import EventSchema
import Glibc
import Synchronization

/// A log in this process's memory, for tests: the same semantics as the others, nothing durable. Any number of threads may
/// use it as if each were a process of its own.
public final class SimulatedLog: EventLog {
    struct State: Sendable {
        var contents: LogContents
        var groups: [ConsumerGroup: GroupState] = [:]
        var isAvailable = true
        /// Consumers that are told when something was appended.
        var wakers: [ObjectIdentifier: @Sendable () -> Void] = [:]
        /// Leader changes of each partition.
        var epochs: [TopicPartition: Int] = [:]
    }

    let state: Mutex<State>
    let now: @Sendable () -> Timestamp
    let sessionTimeout: Duration
    let messageTimeout: Duration

    /// - Parameters:
    ///   - sessionTimeout: a member of a group that does not poll for so long loses its share.
    ///   - messageTimeout: an append that is not possible for so long fails.
    ///   - now: the log's clock.
    public init(
        partitions: Int = 12, id: [UInt8] = Random.bytes(16), sessionTimeout: Duration = .seconds(10),
        messageTimeout: Duration = .seconds(3), now: @escaping @Sendable () -> Timestamp = { SimulatedLog.systemTime }
    ) {
        state = Mutex(State(contents: LogContents(LogDescription(id: id, partitions: partitions))))
        self.now = now
        self.sessionTimeout = sessionTimeout
        self.messageTimeout = messageTimeout
    }

    /// The machine's clock.
    public static var systemTime: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000)
    }

    public func describe() throws(LogError) -> LogDescription {
        let (isAvailable, description) = state.withLock { ($0.isAvailable, $0.contents.description) }
        guard isAvailable else { throw Self.unavailable }
        return description
    }

    public func makeProducer(client: String) throws(LogError) -> any LogProducer { SimulatedProducer(log: self) }

    public func makeConsumer(client: String, group: ConsumerGroup?) throws(LogError) -> any LogConsumer {
        SimulatedConsumer(log: self, group: group)
    }

    // MARK: What a test does to the log

    /// Whether the log can be reached.
    public var isAvailable: Bool {
        get { state.withLock { $0.isAvailable } }
        set { change { $0.isAvailable = newValue } }
    }

    /// Loses everything from an offset on; a new leader serves the partition.
    public func truncate(_ partition: TopicPartition, at offset: Int64) {
        change { state in
            state.contents.truncate(partition, at: offset)
            state.epochs[partition, default: 0] += 1
        }
    }

    /// Removes what lies before an offset.
    public func retain(_ partition: TopicPartition, from offset: Int64) {
        change { $0.contents.retain(partition, from: offset) }
    }

    public func records(of partition: TopicPartition) -> [Record] {
        state.withLock { Array($0.contents.records(of: partition, from: $0.contents.bounds(of: partition).lowerBound)) }
    }

    /// Changes something, and lets everybody look at it.
    func change<Result: Sendable>(_ body: (inout sending State) -> Result) -> Result {
        let (result, wakers) = state.withLock { state in (body(&state), Array(state.wakers.values)) }
        for wake in wakers { wake() }
        return result
    }

    static let unavailable = LogError(.unavailable, "the simulated log is away")
    static let closed = LogError(.closed, "the handle was closed")
}
