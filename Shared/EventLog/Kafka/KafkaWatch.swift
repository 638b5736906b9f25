internal import EventLog
internal import EventSchema
internal import Runtime
internal import Synchronization

/// Asks Kafka every second who leads the followed partitions: a new leader, or a cluster that was away, means that what was
/// read before must be looked at again.
final class KafkaWatch: Sendable {
    private struct State {
        var isAvailable = true
        var followed: Set<TopicPartition> = []
        var leaders: [TopicPartition: Int32] = [:]
        var interrupted: Set<TopicPartition> = []
    }

    private let state = Mutex(State())
    private let stopping = Mailbox<Never>()

    init(_ handle: KafkaHandle, wake: @escaping @Sendable () -> Void) {
        KafkaThread.start("kafka-watch") { [weak self, stopping] in
            while !stopping.isClosed {
                let leaders = try? handle.leaders()
                guard let self else { return }
                if self.learn(leaders) { wake() }
                _ = stopping.receive(within: .seconds(1))
            }
        }
    }

    var isAvailable: Bool { state.withLock { $0.isAvailable } }

    func stop() { stopping.close() }

    func follow(_ partitions: Set<TopicPartition>) { state.withLock { $0.followed = partitions } }

    func sawRecords() { state.withLock { $0.isAvailable = true } }

    func takeInterrupted() -> Set<TopicPartition> {
        state.withLock { state in
            defer { state.interrupted = [] }
            return state.interrupted
        }
    }

    /// No broker answers: when one does, everything is looked at again.
    func lostContact() { state.withLock { $0.isAvailable = false } }

    /// Whether there is something to tell.
    private func learn(_ leaders: [TopicPartition: Int32]?) -> Bool {
        state.withLock { state in
            guard let leaders else {
                state.isAvailable = false
                return false
            }
            for partition in state.followed {
                guard let before = state.leaders[partition], let now = leaders[partition], now >= 0 else { continue }
                if now != before || !state.isAvailable { state.interrupted.insert(partition) }
            }
            for (partition, leader) in leaders where leader >= 0 { state.leaders[partition] = leader }
            state.isAvailable = true
            return !state.interrupted.isEmpty
        }
    }
}
