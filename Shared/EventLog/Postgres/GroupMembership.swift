import EventLog
import EventSchema
import Postgres

/// One consumer's part in its group.
struct GroupMembership {
    struct Changes {
        var revoked: [Int] = []
        var assigned: [Int] = []
    }

    let group: ConsumerGroup
    private(set) var heartbeatAt = ContinuousClock.now
    private let topic: Int16
    private let client: String
    private let configuration: PostgresLog.Configuration
    private let member: [UInt8]
    /// What the caller knows to be its own.
    private var held: Set<Int> = []
    /// What was taken from the caller in the last poll: with the next one it has let go.
    private var givenBack: Set<Int> = []

    init(_ group: ConsumerGroup, topic: Int16, client: String, configuration: PostgresLog.Configuration) {
        self.group = group
        self.topic = topic
        self.client = client
        self.configuration = configuration
        member = (0..<16).map { _ in UInt8.random(in: 0...255) }
    }

    mutating func attendSoon() { heartbeatAt = .now }

    /// A heartbeat, and what it tells.
    mutating func attend(over connection: PostgresConnection) throws(PostgresError) -> Changes {
        let lifetime = Interval(configuration.memberLifetime)
        let answer = try connection.query(
            """
            SELECT was_member, held, surplus FROM log.attend(
                \(group.name), \(topic), \(member), \(client), \(givenBack.map { Int16($0) }), \(lifetime.milliseconds))
            """
        ).decode(Bool.self, [Int16].self, [Int16].self)
        guard let (wasMember, holds, surplus) = answer.first else {
            throw PostgresError(.mismatch, "a heartbeat was not answered")
        }
        heartbeatAt = .now + configuration.heartbeatInterval

        let all = Set(holds.map(Int.init))
        let kept = all.subtracting(surplus.map(Int.init))
        // One that was out may hold what was somebody else's in between: that is not the same as having kept it.
        let revoked = wasMember ? held.subtracting(kept) : held
        let assigned = kept.subtracting(wasMember ? held : [])
        // What the caller loses here it still has until its next poll; what it never had goes back at once.
        givenBack = all.subtracting(kept)
        if !givenBack.isEmpty { heartbeatAt = .now }
        held = kept
        return Changes(revoked: revoked.sorted(), assigned: assigned.sorted())
    }

    func leave(over connection: PostgresConnection) {
        // Without it the others wait for the lifetime to pass.
        _ = try? connection.query("SELECT log.leave(\(group.name), \(member))")
    }
}
