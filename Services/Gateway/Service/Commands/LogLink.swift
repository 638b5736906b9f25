import EventLog
import Synchronization

/// What the command path needs of the log, while it has it: set by the thread that reads replies, used by every request.
final class LogLink: Sendable {
    struct Ends: Sendable {
        var producer: any LogProducer
        var consumer: any LogConsumer
        /// The number of partitions of the topics that commands stand in.
        var partitions: Int
        /// The partition of `replies` that is read here.
        var replies: Int
    }

    private let ends = Mutex<Ends?>(nil)
    private let isBroken = Mutex(false)
    let probe = LogProbe()

    /// `nil` while replies would not be read, or the log is known to be away: nothing must be sent then.
    var current: Ends? {
        guard let ends = ends.withLock({ $0 }), ends.consumer.isAvailable else { return nil }
        return ends
    }

    /// A new connection begins.
    func begin() { isBroken.withLock { $0 = false } }

    func establish(_ ends: Ends) { self.ends.withLock { $0 = ends } }

    func dissolve() { ends.withLock { $0 = nil } }

    /// A record was not taken: the thread finds out whether others are.
    func doubt() {
        probe.doubt()
        wake()
    }

    /// A handle broke: the thread makes everything anew.
    func giveUp() {
        isBroken.withLock { $0 = true }
        wake()
    }

    var isGivenUp: Bool { isBroken.withLock { $0 } }

    func wake() { ends.withLock { $0 }?.consumer.wake() }
}
