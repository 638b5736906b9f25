import Crypto
import EventLog
import EventSchema
import HTTP
import Synchronization

/// What users were lately told about themselves, for who asks again. Written by whoever was answered, emptied by the thread that
/// follows `identity.events`, whatever an event of the user's home says.
///
/// An answer is made from Identity's projection as of a position, and comes here later than that: it is kept only if no event of
/// its home that it does not know of has been read meanwhile. So nothing in here is older than what has been read of the log, and
/// nothing is told from here while that is behind, which is the rule of revocations.
public final class UserAnswers: Sendable {
    private struct Entry {
        var user: UserID
        var headers: Headers
        /// Wiped with the entry: an address, a number, names.
        var body: Secret
        var until: ContinuousClock.Instant
    }

    /// An event that was read, by its home.
    private struct Read {
        var partition: Int
        var offset: Int64
    }

    private struct State {
        var entries: RecentMemory<RoutingKey, Entry>
        var read: RecentMemory<RoutingKey, Read>
        /// Homes whose events are still to be read: nothing of theirs is kept or told until then.
        var changed: RecentMemory<RoutingKey, ContinuousClock.Instant>
        /// By partition: up to which offset events may have been read that stand in `read` no more.
        var floors: [Int: Int64] = [:]
        var freshAt: ContinuousClock.Instant?

        func isChanging(_ home: RoutingKey, at now: ContinuousClock.Instant) -> Bool { changed[home].map { now < $0 } ?? false }
    }

    private static let lifetime: Duration = .seconds(60)
    /// How far behind the reading of the log may be, as for revocations.
    private static let patience: Duration = .seconds(1)

    private let partitions: Int
    private let state: Mutex<State>

    /// - Parameters:
    ///   - partitions: of `identity.events`.
    ///   - limit: how many users are remembered; about a kilobyte each.
    public init(partitions: Int, limit: Int = 10_000) {
        self.partitions = partitions
        state = Mutex(
            State(entries: RecentMemory(limit: limit), read: RecentMemory(limit: limit), changed: RecentMemory(limit: limit)))
    }

    // MARK: Requests

    func answer(to user: UserID, at home: RoutingKey, now: ContinuousClock.Instant = .now) -> Response? {
        let entry = state.withLock { state -> Entry? in
            guard let freshAt = state.freshAt, now - freshAt <= Self.patience, let entry = state.entries[home],
                entry.user == user, now < entry.until
            else { return nil }
            return entry
        }
        return entry.map { Response(headers: $0.headers, body: $0.body.withBytes { Array($0) }) }
    }

    /// Keeps an answer 200 for a minute.
    ///
    /// - Parameter position: the offset after the last event of the user's partition that the answer knows of.
    func keep(
        _ answer: Response, to user: UserID, at home: RoutingKey, asOf position: Int64, now: ContinuousClock.Instant = .now
    ) {
        let partition = home.partition(among: partitions)
        state.withLock { state in
            guard let last = state.read[home]?.offset ?? state.floors[partition], last < position,
                !state.isChanging(home, at: now)
            else { return }
            let entry = Entry(user: user, headers: answer.headers, body: Secret(answer.body), until: now + Self.lifetime)
            state.entries.insert(entry, for: home)
        }
    }

    /// Before this gateway answers what changes a user: what it tells after that knows of the change, although the event may not
    /// have been read.
    func changed(_ home: RoutingKey, now: ContinuousClock.Instant = .now) {
        state.withLock { state in
            state.entries.remove(home)
            // By then the event was read, or the reading is behind.
            state.changed.insert(now + Self.patience * 2, for: home)
        }
    }

    // MARK: The log

    /// From these offsets on every event will be read. What has happened before them since the last one was read is not known.
    func begin(at offsets: [Int: Int64]) {
        state.withLock { state in
            state.entries.removeAll()
            state.read.removeAll()
            state.freshAt = nil
            state.floors = offsets.mapValues { $0 - 1 }
        }
    }

    func read(_ envelope: EventEnvelope) {
        guard let home = RoutingKey(bytes: envelope.key) else { return }
        read(envelope.offset, of: home, in: envelope.partition.partition)
    }

    func read(_ offset: Int64, of home: RoutingKey, in partition: Int) {
        state.withLock { state in
            state.entries.remove(home)
            if let gone = state.read.insert(Read(partition: partition, offset: offset), for: home)?.value {
                state.floors[gone.partition] = max(state.floors[gone.partition] ?? 0, gone.offset)
            }
        }
    }

    /// Everything that had happened by then was read.
    func isUpToDate(at instant: ContinuousClock.Instant) {
        state.withLock { state in
            state.freshAt = instant
            state.entries.removeFirst { $0.until <= instant }
        }
    }
}
