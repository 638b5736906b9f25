import Testing

extension SystemTests {
    /// Whatever 200 clients do while brokers die.
    @Suite(.enabled(if: TestKafka.given?.canKillBrokers == true, "needs three brokers that can be killed")) struct BrokerTests {
        @Test func `what was acknowledged has happened once, whichever broker is killed`() async throws {
            let kafka = try #require(TestKafka.given)
            let storm = try await Storm.started()
            let outcome = try await storm.run {
                for broker in 1...3 {
                    try await Task.sleep(for: .milliseconds(Int64.random(in: 50...800)))
                    try await kafka.kill(broker: broker)
                    // Two of three are enough.
                    try await everybodyIsServed(by: storm.system)
                    try await kafka.revive(broker: broker)
                    try await everybodyIsServed(by: storm.system)
                }
            }
            try await storm.expectCalm(outcome)
            #expect(try await storm.system.members().allSatisfy { $0.restarts == 0 })
            try await storm.system.end()
        }

        /// Somebody new in each partition.
        private func everybodyIsServed(by system: LatchkeySystem) async throws {
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
