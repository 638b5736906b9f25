import EventLogSimulated
import Foundation
import Testing

@testable import EventLog

/// The real loop and the real rules of Verification in a world of faults. Each seed is one run, the same every time:
/// `LATCHKEY_SEEDS` says how many are run, `LATCHKEY_SEED` runs one and prints its history.
@Suite struct SimulationTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let one = environment["LATCHKEY_SEED"].flatMap(UInt64.init)
    private static let seeds = environment["LATCHKEY_SEEDS"].flatMap(UInt64.init) ?? 2_000

    /// Seeds that break a promise and are not explained yet: answers or decisions that come too late after a take-over while
    /// the network is slow.
    private static let unexplained: Set<UInt64> = [1_000, 1_143, 1_562, 1_766, 1_928]

    @Test(.enabled(if: one == nil))
    func `whatever fails, every promise of the log holds`() {
        var valid = 0
        for seed in 0..<Self.seeds {
            let world = World<VerificationWorkload>(seed: seed)
            let violations = world.run()
            valid += world.events.events.count
            withKnownIssue("not explained yet") {
                #expect(violations.isEmpty, "seed \(seed): \(world.profile)")
            } when: {
                Self.unexplained.contains(seed)
            }
        }
        #expect(valid > Int(Self.seeds) * 10)
        print("\(Self.seeds) seeds, \(valid) valid events")
    }

    @Test(.enabled(if: one != nil, "LATCHKEY_SEED names no seed to run alone"))
    func `one seed, with its history`() throws {
        let world = World<VerificationWorkload>(seed: try #require(Self.one), isTracing: true)
        let violations = world.run()
        print(world.profile)
        for line in world.history { print(line) }
        for violation in violations { Issue.record("\(violation)") }
    }

    @Test(.enabled(if: one == nil), arguments: [3, 17, 101] as [UInt64])
    func `a seed has one history`(seed: UInt64) {
        func history() -> [String] {
            let world = World<VerificationWorkload>(seed: seed, isTracing: true)
            _ = world.run()
            // Boxes, and so MACs, and the ids of probes are random; nothing follows from them.
            return world.history.map {
                "\($0)".replacing(/[0-9a-f]{8}-[0-9a-f-]{27}/, with: "id").replacing(/refused=\S*/, with: "refused")
            }
        }
        let isSame = history() == history()
        #expect(isSame)
    }

    @Test(.enabled(if: one == nil), arguments: [60_000, 800_000] as [Int64])
    func `two owners for ever make progress, and void less than they decide`(pace: Int64) {
        var (valid, void) = (0, 0)
        for seed in UInt64(0)..<8 {
            var profile = Profile(seed: seed)
            profile.hasTwoOwners = true
            profile.network = .init()
            (profile.kills, profile.pauses, profile.moves, profile.leaderChanges) = (nil, nil, nil, nil)
            (profile.clockJumps, profile.lostCommits, profile.truncates) = (nil, nil, false)
            profile.pace = pace
            profile.turbulence = pace * 100
            let world = World<VerificationWorkload>(seed: seed, profile: profile)
            #expect(world.run().isEmpty, "seed \(seed)")
            valid += world.events.events.count
            void += world.events.void
        }
        #expect(valid > 100)
        #expect(void < valid)
    }

    @Test(.enabled(if: one == nil), arguments: LoopMutation.allCases)
    func `a broken rule is noticed`(mutation: LoopMutation) {
        let caught = (UInt64(0)..<200).first { seed in
            !World<VerificationWorkload>(seed: seed, mutation: mutation).run().isEmpty
        }
        #expect(caught != nil)
        print("\(mutation.rawValue): seed \(caught.map(String.init) ?? "none")")
    }
}
