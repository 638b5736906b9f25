import EventSchema
import Synchronization

/// Access tokens whose signature and claims were found good, known by their digest, and whose they are. That their session has
/// ended is not known here.
final class VerifiedTokens: Sendable {
    private struct Entry {
        var caller: Caller
        /// Seconds since 1970-01-01.
        var expiry: Int64
        var keys: Int
    }

    private let memory: Mutex<RecentMemory<Digest, Entry>>

    /// - Parameter limit: how many are remembered; about half a kilobyte each.
    init(limit: Int = 10_000) { memory = Mutex(RecentMemory(limit: limit)) }

    /// - Parameters:
    ///   - now: the log's clock.
    ///   - keys: the version of the keys that count now. What was checked with others is forgotten.
    func caller(of token: Digest, at now: Timestamp, keys: Int) -> Caller? {
        memory.withLock { memory in
            guard let entry = memory[token] else { return nil }
            guard entry.keys == keys, now.milliseconds / 1_000 < entry.expiry else {
                memory.remove(token)
                return nil
            }
            return entry.caller
        }
    }

    /// - Parameters:
    ///   - expiry: seconds since 1970-01-01.
    ///   - keys: the version of the keys that it was checked with.
    func keep(_ caller: Caller, of token: Digest, until expiry: Int64, keys: Int) {
        memory.withLock { $0.insert(Entry(caller: caller, expiry: expiry, keys: keys), for: token) }
    }
}
