import EventLogSimulated
import Foundation
import Testing

@testable import EventLog

/// The real loop in a world of faults, with the real rules of Verification, whose state is in memory, or with a service whose
/// state is a projection. Each seed is one run, the same every time: `LATCHKEY_SEEDS` says how many are run, `LATCHKEY_SEED`
/// runs one and prints its history.
@Suite struct SimulationTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let one = environment["LATCHKEY_SEED"].flatMap(UInt64.init)
    private static let seeds = environment["LATCHKEY_SEEDS"].flatMap(UInt64.init) ?? 2_000
    /// So many parts of the seeds are run at once.
    private static let parts: UInt64 = 4

    @Test(.enabled(if: one == nil), arguments: 0..<parts)
    func `whatever fails, every promise of the log holds`(part: UInt64) {
        var (count, valid) = (0, 0)
        for seed in stride(from: part, to: Self.seeds, by: Int(Self.parts)) {
            let run = SimulatedRun(seed: seed)
            #expect(run.violations.isEmpty, "seed \(seed): \(run.profile)")
            count += 1
            valid += run.valid
        }
        #expect(valid > count * 10)
        print("\(count) seeds, \(valid) valid events")
    }

    @Test(.enabled(if: one != nil, "LATCHKEY_SEED names no seed to run alone"))
    func `one seed, with its history`() throws {
        let run = SimulatedRun(seed: try #require(Self.one), isTracing: true)
        print(run.profile)
        for line in run.history { print(line) }
        for violation in run.violations { Issue.record("\(violation)") }
    }

    @Test(.enabled(if: one == nil), arguments: [3, 17, 100] as [UInt64])
    func `a seed has one history`(seed: UInt64) {
        func history() -> [String] {
            // Boxes, and so MACs, and the ids of probes are random; nothing follows from them.
            SimulatedRun(seed: seed, isTracing: true).history.map {
                "\($0)".replacing(/[0-9a-f]{8}-[0-9a-f-]{27}/, with: "id").replacing(/refused=\S*/, with: "refused")
            }
        }
        let isSame = history() == history()
        #expect(isSame)
    }

    @Test(.enabled(if: one == nil), arguments: [60_000, 800_000] as [Int64])
    func `two owners for ever make progress, and void less than they decide`(pace: Int64) {
        for isProjected in [false, true] {
            var (valid, void) = (0, 0)
            for seed in UInt64(0)..<8 {
                let run = SimulatedRun(seed: seed, profile: .twoOwners(seed: seed, pace: pace), isProjected: isProjected)
                #expect(run.violations.isEmpty, "seed \(seed)")
                valid += run.valid
                void += run.void
            }
            #expect(valid > 100)
            #expect(void < valid)
        }
    }

    /// Seeds that notice one broken rule each. Where one does not any more, another one is looked for.
    private static let telling: [UInt64] = [0, 1, 2, 4, 6, 11, 70, 133, 219, 301]

    @Test(.enabled(if: one == nil), arguments: LoopMutation.allCases)
    func `a broken rule is noticed`(mutation: LoopMutation) {
        let caught = (Self.telling + Array(0..<600)).first { seed in
            !SimulatedRun(seed: seed, mutation: mutation).violations.isEmpty
        }
        #expect(caught != nil)
        print("\(mutation.rawValue): seed \(caught.map(String.init) ?? "none")")
    }
}
