import Foundation
import Testing

extension SystemTests {
    /// Whatever 200 clients do while services die: nothing acknowledged is lost, nothing happens twice.
    @Suite struct StormTests {
        private static let clients = 200
        private static let services = ["gateway", "verification", "identity", "notifier"]
        private static let twice = Dictionary(uniqueKeysWithValues: services.map { ($0, 2) })

        /// Hashing is not what is tried; and limits of addresses and numbers of sends are others' business.
        private static func started() async throws -> LatchkeySystem {
            try await LatchkeySystem.started(["PASSWORD_HASH_MEMORY": "1024", "PASSWORD_HASH_PASSES": "1"], scale: twice)
        }

        private func expectCalm(_ outcome: Storm.Outcome, in system: LatchkeySystem) async throws {
            for violation in outcome.violations.prefix(10) { Issue.record("\(violation)") }
            #expect(outcome.violations.count == 0)
            #expect(outcome.certain > 0)
            for (rule, found) in try await Impossible.states(in: system) { #expect(found == [], "\(rule)") }
        }

        @Test func `what was acknowledged has happened once, whoever is killed`() async throws {
            let system = try await Self.started()
            let storm = Storm(
                system: system, clients: Self.clients, duration: .seconds(Storm.wantedSeconds), gateways: 2)
            let outcome = try await storm.run {
                for number in 1...2 {
                    for service in Self.services {
                        // Anywhere between two requests and in the middle of one.
                        try await Task.sleep(for: .milliseconds(Int64.random(in: 50...800)))
                        try await system.kill(number == 1 ? service : "\(service)-2")
                        try await eventually("everything is ready again", within: .seconds(120)) {
                            try await system.compose("status").status == 0
                        }
                    }
                }
            }
            try await expectCalm(outcome, in: system)
            try await system.end()
        }

        @Test(.enabled(if: TestKafka.given?.canKillBrokers == true, "needs three brokers that can be killed"))
        func `what was acknowledged has happened once, whichever broker is killed`() async throws {
            let kafka = try #require(TestKafka.given)
            let system = try await Self.started()
            let storm = Storm(
                system: system, clients: Self.clients, duration: .seconds(Storm.wantedSeconds), gateways: 2)
            let outcome = try await storm.run {
                for broker in 1...3 {
                    try await Task.sleep(for: .milliseconds(Int64.random(in: 50...800)))
                    try await kafka.kill(broker: broker)
                    // Two of three are enough.
                    try await serves(system)
                    try await kafka.revive(broker: broker)
                    try await serves(system)
                }
            }
            try await expectCalm(outcome, in: system)
            #expect(try await system.members().allSatisfy { $0.restarts == 0 })
            try await system.end()
        }

        /// Somebody new in each partition is served.
        private func serves(_ system: LatchkeySystem) async throws {
            try await eventually("everybody is served", within: .seconds(120)) {
                for _ in 0..<12 {
                    let visitor = Visitor(system)
                    guard try await visitor.send().isSuccess, try await visitor.confirm(visitor.code()).isSuccess else {
                        return false
                    }
                }
                return true
            }
        }
    }
}
