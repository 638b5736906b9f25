import Foundation
import Testing

/// Many clients at once, each living one life after the other, while something else happens to the system.
struct Storm: Sendable {
    struct Outcome: Sendable {
        var lives: [Life] = []
        var violations: [String] { lives.flatMap(\.violations) }
        /// Requests that got an answer, and those that got none.
        var answered: Int { lives.reduce(0) { $0 + $1.answered } }
        var lost: Int { lives.reduce(0) { $0 + $1.lost } }
        var certain: Int { lives.count { !$0.isOver && $0.doubts.isEmpty } }
    }

    static let services = ["gateway", "verification", "identity", "notifier"]
    private static let gateways = 2
    /// How long the load goes on at least: as the caller wants, or a short while.
    private static let duration = Duration.seconds(
        ProcessInfo.processInfo.environment["LATCHKEY_STORM_SECONDS"].flatMap { Int($0) } ?? 12)

    /// Two of each service.
    let system: LatchkeySystem
    let clients: Int

    /// Hashing is not what is tried.
    static func started(clients: Int = 200) async throws -> Storm {
        let settings = ["PASSWORD_HASH_MEMORY": "1024", "PASSWORD_HASH_PASSES": "1"]
        let scale = Dictionary(uniqueKeysWithValues: services.map { ($0, 2) })
        return Storm(system: try await LatchkeySystem.started(settings, scale: scale), clients: clients)
    }

    /// - Parameter misfortune: one round of what happens meanwhile. It is repeated until the time is over, and runs once at
    ///   least.
    func run(_ misfortune: @escaping @Sendable () async throws -> Void) async throws -> Outcome {
        let isOver = Flag()
        let outbox = Outbox(of: system)
        var outcome = try await withThrowingTaskGroup(of: [Life].self) { group in
            for client in 0..<clients { group.addTask { await live(client, outbox, until: isOver) } }
            group.addTask {
                defer { isOver.raise() }
                let end = ContinuousClock.now + Self.duration
                do {
                    repeat { try await misfortune() } while ContinuousClock.now < end
                } catch {
                    print(system.lastWords)
                    throw error
                }
                return []
            }
            return try await group.reduce(into: Outcome()) { $0.lives += $1 }
        }
        try await settle()
        let lived = outcome.lives
        outcome.lives = try await withThrowingTaskGroup(of: [Life].self) { group in
            // Fewer at once: what is looked for is not how they hold each other up.
            let share = 32
            for first in 0..<share {
                group.addTask {
                    var lives: [Life] = []
                    for index in stride(from: first, to: lived.count, by: share) {
                        var life = lived[index]
                        await life.reckon()
                        lives.append(life)
                    }
                    return lives
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        print(
            "storm: \(outcome.lives.count) lives, \(outcome.certain) of them known to the end; \(outcome.answered) requests answered,",
            "\(outcome.lost) not")
        return outcome
    }

    /// Everything is as the clients know, as a fold of the log, and as tables can be.
    func expectCalm(_ outcome: Outcome) async throws {
        for violation in outcome.violations.prefix(10) { Issue.record("\(violation)") }
        #expect(outcome.violations.count == 0)
        #expect(outcome.certain > 0)
        for (rule, found) in try await Impossible.states(in: system) { #expect(found == [], "\(rule)") }
        let comparison = try await system.operate("identity", ["rebuild", "--verify"])
        #expect(comparison.status == 0, "\(comparison)")
        let texts = ["@latchkey-test.example", "Storm-Horse-", "Storm Rider", "Storm Walker"]
        let tokens = outcome.lives.prefix(100).flatMap(\.tokens)
        let remains = try await Remains.collected(from: system)
        #expect(try await remains.files(containing: texts) == [])
        #expect(try await remains.files(containing: Tokens.spellings(tokens)) == [])
    }

    private func live(_ client: Int, _ outbox: Outbox, until isOver: Flag) async -> [Life] {
        let line = StormLine(system, gateways: Self.gateways, outbox: outbox)
        var lives: [Life] = []
        while !isOver.isRaised {
            var life = Life(line, email: "storm\(client).\(lives.count)@latchkey-test.example")
            await life.run(until: isOver)
            lives.append(life)
        }
        return lives
    }

    /// Until everything is ready, and whatever was on its way has arrived: what was asked without an answer may be decided as
    /// long as its time budget lasts, and the deliveries of one partition come in order.
    private func settle() async throws {
        try await eventually("everything is ready again", within: .seconds(120)) {
            try await system.compose("status").status == 0
        }
        let budget = ContinuousClock.now + .seconds(11)
        try await eventually("time budgets are over") { ContinuousClock.now > budget }
        for _ in 0..<24 {
            let visitor = Visitor(system)
            try await eventually("a code can be confirmed") {
                guard try await visitor.send().isSuccess else { return false }
                return try await visitor.confirm(visitor.code()).isSuccess
            }
        }
    }
}
