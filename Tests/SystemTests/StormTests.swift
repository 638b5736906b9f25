import Testing

extension SystemTests {
    /// Whatever 200 clients do while services die: nothing acknowledged is lost, nothing happens twice.
    @Suite struct StormTests {
        @Test func `what was acknowledged has happened once, whoever is killed`() async throws {
            let storm = try await Storm.started()
            let outcome = try await storm.run {
                for name in Storm.services + Storm.services.map({ "\($0)-2" }) {
                    // Anywhere between two requests and in the middle of one.
                    try await Task.sleep(for: .milliseconds(Int64.random(in: 50...800)))
                    try await storm.system.kill(name)
                    try await eventually("everything is ready again", within: .seconds(120)) {
                        try await storm.system.compose("status").status == 0
                    }
                }
            }
            try await storm.expectCalm(outcome)
            try await storm.system.end()
        }
    }
}
