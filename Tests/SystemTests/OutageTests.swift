import Glibc
import HTTP
import Testing

extension SystemTests {
    /// The database goes away and comes back.
    @Suite struct OutageTests {
        @Test func `without Postgres the gateway answers 503 at once, and is back by itself`() async throws {
            let system = try await LatchkeySystem.started()
            let before = Visitor(system)
            #expect(try await before.send().isSuccess)
            let code = try await before.code()

            // A clean stop: the supervisor takes its time before it starts Postgres again.
            let postgres = try #require(try await system.member("postgres")?.pid)
            kill(postgres, SIGINT)
            try await eventually("Postgres has ended") { kill(postgres, 0) != 0 }

            try await eventually("requests fail", within: .seconds(10)) { try await Visitor(system).send().status == 503 }
            for _ in 0..<20 {
                let start = ContinuousClock.now
                let answer = try await Visitor(system).send()
                let took = ContinuousClock.now - start
                guard answer.status == 503 else { continue }
                #expect(answer.error == "UNAVAILABLE")
                #expect((Int(answer.headers["Retry-After"] ?? "") ?? 0) >= 1)
                #expect(took < .seconds(2), "a refusal took \(took)")
            }
            #expect(await !system.isReady())
            let health = try await system.gateway().send(.get("/healthz"))
            #expect(health.status == .ok)

            try await eventually("the system is ready again") { await system.isReady() }
            #expect(try await before.confirm(code).isSuccess)
            let after = Visitor(system)
            #expect(try await after.send().isSuccess)
            #expect(try await after.confirm(after.code()).isSuccess)
            try await system.end()
        }

        @Test func `a Postgres that hangs holds nobody up for ever`() async throws {
            let system = try await LatchkeySystem.started()
            let visitor = Visitor(system)
            #expect(try await visitor.send().isSuccess)
            let code = try await visitor.code()
            let postgres = try #require(try await system.member("postgres")?.pid)
            let family = try await children(of: postgres) + [postgres]
            for pid in family { kill(pid, SIGSTOP) }
            let start = ContinuousClock.now
            let answer = try? await Visitor(system).send()
            let took = ContinuousClock.now - start
            for pid in family.reversed() { kill(pid, SIGCONT) }
            // The gateway's own deadline is ten seconds.
            #expect([503, 504].contains(answer?.status))
            #expect(took < .seconds(12))
            try await eventually("the system is ready again") { await system.isReady() }
            try await eventually("codes can be confirmed again") { try await visitor.confirm(code).isSuccess }
            try await system.end()
        }

        private func children(of pid: Int32) async throws -> [Int32] {
            let result = try await Program.run("/bin/cat", ["/proc/\(pid)/task/\(pid)/children"])
            return result.output.split(separator: " ").compactMap { Int32($0.filter(\.isNumber)) }
        }
    }
}
