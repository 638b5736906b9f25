import Glibc
import HTTP
import JSON
import Testing

extension SystemTests {
    /// A process stands still, and goes on as if nothing had happened: the worst that a scheduler, a debugger or a virtual
    /// machine can do.
    @Suite struct PauseTests {
        private static let twice = ["gateway": 2, "verification": 2, "identity": 2, "notifier": 2]

        /// What one visitor was told.
        private struct Story: Sendable {
            var visitor: Visitor
            var acknowledged = 0
            var asked = 0
            var confirmations = 0
        }

        @Test(arguments: ["verification", "identity", "notifier"])
        func `the others take over from a member that stands still, which harms nobody when it goes on`(name: String) async throws
        {
            let system = try await LatchkeySystem.started(scale: Self.twice)
            let isOver = Flag()
            let member = try #require(try await system.member("\(name)-2")?.pid)
            let stories = try await withThrowingTaskGroup(of: [Story].self) { group in
                for number in 0..<8 {
                    group.addTask {
                        var stories: [Story] = []
                        while !isOver.isRaised { stories.append(try await live(Visitor(system, gateway: number % 2 + 1))) }
                        return stories
                    }
                }
                group.addTask {
                    defer { isOver.raise() }
                    kill(member, SIGSTOP)
                    defer { kill(member, SIGCONT) }
                    // Whatever partition they belong to.
                    try await eventually("everybody is served by the other one") {
                        for _ in 0..<12 {
                            let visitor = Visitor(system)
                            guard try await visitor.send().isSuccess, try await visitor.confirm(visitor.code()).isSuccess
                            else { return false }
                        }
                        return true
                    }
                    kill(member, SIGCONT)
                    try await eventually("everything is ready again") { try await system.compose("status").status == 0 }
                    return []
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            // What was on its way before has arrived when this has.
            let last = Visitor(system)
            #expect(try await last.send().isSuccess)
            #expect(try await last.confirm(last.code()).isSuccess)
            for story in stories {
                let deliveries = try system.deliveries(to: story.visitor.email)
                let ids = deliveries.map { $0["id"]?.string }
                #expect(Set(ids).count == ids.count, "a delivery was made twice")
                #expect(deliveries.count >= story.acknowledged && deliveries.count <= story.asked)
                #expect(story.confirmations <= 1)
            }
            #expect(stories.contains { $0.confirmations == 1 })
            #expect(try await system.unaskedEnds() == [])
            try await system.end()
        }

        @Test func `a gateway that stands still holds up its own clients alone`() async throws {
            let system = try await LatchkeySystem.started(scale: Self.twice)
            let first = Visitor(system, gateway: 2)
            #expect(try await first.send(headers: ["Idempotency-Key": "paused"]).isSuccess)
            let code = try await first.code()
            let gateway = try #require(try await system.member("gateway-2")?.pid)
            kill(gateway, SIGSTOP)
            defer { kill(gateway, SIGCONT) }
            async let held = first.confirm(code)
            for _ in 0..<12 {
                let visitor = Visitor(system)
                #expect(try await visitor.send().isSuccess)
                #expect(try await visitor.confirm(visitor.code()).isSuccess)
            }
            kill(gateway, SIGCONT)
            // Its client was patient, and the request had not begun.
            #expect(try await held.isSuccess)
            #expect(try await first.confirm(code).error == "INVALID_OTP")
            try await system.end()
        }

        /// Asks for a code, and confirms it with several requests at once, some of which may be told that their time is over.
        private func live(_ visitor: Visitor) async throws -> Story {
            var story = Story(visitor: visitor)
            story.asked = 1
            guard let answer = try? await visitor.send(), answer.isSuccess else { return story }
            story.acknowledged = 1
            let code = try await visitor.code()
            let answers = await withTaskGroup(of: Visitor.Answer?.self) { group in
                for number in 0..<3 {
                    var twin = visitor
                    twin.gateway = number % 2 + 1
                    group.addTask { [twin] in try? await twin.confirm(code) }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            story.confirmations = answers.count { $0?.isSuccess == true }
            return story
        }
    }
}
