import Synchronization
import Testing

extension SystemTests {
    /// Whatever clients do while brokers die.
    @Suite(.enabled(if: TestKafka.given?.canKillBrokers == true, "needs three brokers that can be killed")) struct BrokerTests {
        @Test func `what was acknowledged has happened once, whichever broker is killed`() async throws {
            let kafka = try #require(TestKafka.given)
            // Fewer, so that three brokers get something of the machine as well.
            let storm = try await Storm.started(clients: 60)
            let killed = Mutex(0)
            let outcome = try await storm.run {
                let broker = killed.withLock { count in
                    count += 1
                    return (count - 1) % 3 + 1
                }
                try await Task.sleep(for: .milliseconds(Int64.random(in: 50...800)))
                try await kafka.kill(broker: broker)
                // Two of three are enough.
                try await everybodyIsServed(by: storm.system)
                try await kafka.revive(broker: broker)
                try await everybodyIsServed(by: storm.system)
            }
            try await storm.expectCalm(outcome)
            #expect(try await storm.system.unaskedEnds() == [])
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
