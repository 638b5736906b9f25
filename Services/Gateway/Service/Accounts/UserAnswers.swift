import EventSchema
import HTTP
import Synchronization

/// What users were told about themselves a short while ago, to be told again as long as Postgres has the same version of them.
///
/// Identity alone can open what is known of a person, so each answer goes to it, by way of the log, which costs twenty times what
/// it costs to ask whether anything has changed. The answers are readable: they are few, are forgotten after a minute, and once a
/// session of their user has ended.
public final class UserAnswers: Sendable {
    private struct Entry {
        var answer: Response
        var version: UserVersion
        var end: ContinuousClock.Instant
    }

    static let lifetime: Duration = .seconds(60)

    private let versions: any UserVersions
    private let memory: Mutex<RecentMemory<UserID, Entry>>

    /// - Parameter limit: how many are remembered; a kilobyte each as a rule, and eight at most.
    public init(_ versions: any UserVersions, limit: Int = 4_096) {
        self.versions = versions
        memory = Mutex(RecentMemory(limit: limit))
    }

    /// The version of now; `nil` as well where it cannot be told.
    func version(of user: UserID) async -> UserVersion? { try? await versions.version(of: user) }

    /// What the user was told when this was their version. What was told of another one is forgotten.
    func answer(to user: UserID, as version: UserVersion?, at now: ContinuousClock.Instant = .now) -> Response? {
        memory.withLock { memory in
            guard let entry = memory[user] else { return nil }
            guard entry.version == version, now < entry.end else {
                memory.remove(user)
                return nil
            }
            return entry.answer
        }
    }

    /// - Parameter version: asked for before the answer was: one that knows of later changes is kept under a version that is
    ///   never seen again.
    func keep(_ answer: Response, to user: UserID, as version: UserVersion, at now: ContinuousClock.Instant = .now) {
        memory.withLock { $0.insert(Entry(answer: answer, version: version, end: now + Self.lifetime), for: user) }
    }

    func forget(_ user: UserID) { memory.withLock { $0.remove(user) } }

    /// Forgets what is too old, asked for or not.
    func sweep(at now: ContinuousClock.Instant = .now) { memory.withLock { $0.removeOldest { $0.end <= now } } }

    var count: Int { memory.withLock { $0.count } }
}
