import EventLog
import Postgres
import Synchronization

/// What other threads leave for a consumer, and where it waits for them.
final class ConsumerInbox: Sendable {
    struct Key: Hashable, Sendable {
        var topic: Int16
        var partition: Int
    }

    struct News {
        /// How partitions grew that the consumer follows.
        var growth: [Key: Growth] = [:]
        /// Something may have happened that nobody announced.
        var mustLook = false
        var hasGroupChanged = false
        /// Somebody called `wake`.
        var isWoken = false

        var isEmpty: Bool { growth.isEmpty && !mustLook && !hasGroupChanged && !isWoken }
    }

    private struct State {
        var news = News()
        var followed: Set<Key> = []
    }

    private let group: String?
    private let state = Mutex(State())
    private let parking = Parking()

    init(group: String?) { self.group = group }

    func follow(_ key: Key) { state.withLock { _ = $0.followed.insert(key) } }

    func unfollow(_ key: Key) {
        state.withLock { state in
            state.followed.remove(key)
            state.news.growth[key] = nil
        }
    }

    func partitionsGrew(_ growth: [Growth]) {
        leave { state in
            for new in growth where state.followed.contains(new.key) {
                state.news.growth[new.key] = state.news.growth[new.key]?.followed(by: new) ?? new
            }
        }
    }

    func mustLook() { leave { $0.news.mustLook = true } }

    func groupChanged(_ name: String) {
        guard name == group else { return }
        leave { $0.news.hasGroupChanged = true }
    }

    func wake() { leave { $0.news.isWoken = true } }

    /// Everything that was left; returns at once.
    func take() -> News {
        state.withLock { state in
            defer { state.news = News() }
            return state.news
        }
    }

    /// Waits until something is there.
    func wait(until deadline: ContinuousClock.Instant) { parking.park(until: deadline) }

    private func leave(_ change: (inout State) -> Void) {
        let isNews = state.withLock { state in
            let wasEmpty = state.news.isEmpty
            change(&state)
            return wasEmpty && !state.news.isEmpty
        }
        if isNews { parking.unpark() }
    }
}
