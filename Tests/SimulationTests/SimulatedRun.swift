import EventLogSimulated

@testable import EventLog

/// What one seed came to. Two of three run Verification, one the service with a projection.
struct SimulatedRun {
    let profile: Profile
    let violations: [String]
    let history: [String]
    /// Valid and void records among the own events.
    let valid: Int
    let void: Int

    init(
        seed: UInt64, profile: Profile? = nil, isProjected: Bool? = nil, mutation: LoopMutation? = nil, isTracing: Bool = false
    ) {
        if isProjected ?? (seed % 3 == 1) {
            self.init(World<AccountWorkload>(seed: seed, profile: profile, mutation: mutation, isTracing: isTracing))
        } else {
            self.init(World<VerificationWorkload>(seed: seed, profile: profile, mutation: mutation, isTracing: isTracing))
        }
    }

    private init<Load: Workload>(_ world: World<Load>) {
        violations = world.run()
        profile = world.profile
        history = world.history
        valid = world.events.events.count
        void = world.events.void
    }
}

extension Profile {
    /// Two owners from the beginning to the end, and no other fault.
    static func twoOwners(seed: UInt64, pace: Int64) -> Profile {
        var profile = Profile(seed: seed)
        profile.hasTwoOwners = true
        profile.network = .init()
        (profile.kills, profile.pauses, profile.moves, profile.leaderChanges) = (nil, nil, nil, nil)
        (profile.clockJumps, profile.lostCommits, profile.storeOutages, profile.truncates) = (nil, nil, nil, false)
        (profile.lostTransactions, profile.longTransactions) = (0, 0)
        profile.pace = pace
        profile.turbulence = pace * 100
        return profile
    }
}
