import HTTP
import JSON
import Testing

extension SystemTests {
    /// Processes die at any moment, and whoever got an answer can rely on it.
    @Suite struct CrashTests {
        /// What one visitor was told.
        private struct Story: Sendable {
            var visitor: Visitor
            /// Answers of `send`: those that were acknowledged, and all that were asked for.
            var acknowledged = 0
            var asked = 0
            var code: String?
            var confirmed = false
        }

        /// On Kafka what differs is who loses what the log has to give back: all of them at once.
        private static let victims: [[String]] =
            TestKafka.given == nil
            ? [["verification"], ["gateway"], ["identity"], ["notifier"], ["postgres"], services] : [services]
        private static let services = ["verification", "gateway", "identity", "notifier"]

        @Test(arguments: victims)
        func `nothing acknowledged is lost and nothing is sent or counted twice`(victims: [String]) async throws {
            let system = try await LatchkeySystem.started(scale: ["verification": 2])
            let isOver = Flag()
            let stories = try await withThrowingTaskGroup(of: Story?.self) { group in
                for number in 0..<12 { group.addTask { try await live(Visitor(system), isOver, startingAfter: number) } }
                group.addTask {
                    for round in 0..<4 {
                        for victim in victims {
                            // Anywhere between two requests and in the middle of one.
                            try await Task.sleep(for: .milliseconds(Int64.random(in: 50...600)))
                            try await system.kill(victim)
                        }
                        try await eventually("round \(round): everything is ready again") {
                            try await system.compose("status").status == 0
                        }
                    }
                    isOver.raise()
                    return nil
                }
                return try await group.reduce(into: [Story]()) { stories, story in if let story { stories.append(story) } }
            }
            try await eventually("everything is ready") { try await system.compose("status").status == 0 }

            for story in stories {
                let visitor = story.visitor
                try await eventually("\(visitor.email) has what was acknowledged") {
                    try system.deliveries(to: visitor.email).count >= story.acknowledged
                }
            }
            // One more round trip through the whole system: what was on its way before it has arrived.
            let last = Visitor(system)
            #expect(try await last.send().isSuccess)
            #expect(try await last.confirm(last.code()).isSuccess)

            for story in stories {
                let deliveries = try system.deliveries(to: story.visitor.email)
                let ids = deliveries.map { $0["id"]?.string }
                #expect(Set(ids).count == ids.count, "a delivery was made twice")
                #expect(deliveries.count >= story.acknowledged)
                #expect(deliveries.count <= story.asked, "more was delivered than was asked for")
                if story.confirmed, let code = story.code {
                    let answer = try await story.visitor.confirm(code)
                    #expect(answer.error == "INVALID_OTP", "a used code is good again: \(answer)")
                }
            }
            #expect(stories.contains { $0.confirmed })
            try await system.end()
        }

        /// Asks for a code until it is acknowledged, answers wrong once and then right, until it is told to stop.
        private func live(_ visitor: Visitor, _ isOver: Flag, startingAfter milliseconds: Int) async throws -> Story {
            var story = Story(visitor: visitor)
            try await Task.sleep(for: .milliseconds(milliseconds * 40))
            while story.acknowledged == 0, story.asked < 5 {
                story.asked += 1
                if let answer = try? await visitor.send(), answer.isSuccess {
                    story.acknowledged += 1
                } else {
                    try await Task.sleep(for: .milliseconds(200))
                }
            }
            guard story.acknowledged > 0 else { return story }
            // Earlier requests may have gone through without an answer: the newest code is the one that counts, and it is known
            // only when nothing is on its way any more.
            while !isOver.isRaised { try await Task.sleep(for: .milliseconds(20)) }
            let wanted = story.acknowledged
            try await eventually("\(visitor.email) has its code") {
                try visitor.system.deliveries(to: visitor.email).count >= wanted
            }
            guard story.asked == story.acknowledged else { return story }

            let code = try await visitor.system.code(for: visitor.email)
            story.code = code
            for _ in 0..<2 {
                let answer = try await visitor.confirm(Visitor.wrong(code))
                #expect(answer.error == "INVALID_OTP", "\(answer)")
            }
            let answer = try await visitor.confirm(code)
            #expect(answer.isSuccess, "an acknowledged code is not good, or an attempt was counted twice: \(answer)")
            story.confirmed = answer.isSuccess
            return story
        }

        @Test func `confirmations under fire succeed exactly once`() async throws {
            let system = try await LatchkeySystem.started(scale: ["verification": 2, "identity": 2])
            for victim in ["verification", "identity", "verification-2", "identity-2", "gateway"] {
                let visitor = Visitor(system)
                #expect(try await visitor.send().isSuccess)
                let code = try await visitor.code()
                async let shot: Void = {
                    try await Task.sleep(for: .milliseconds(Int64.random(in: 0...30)))
                    try await system.kill(victim)
                }()
                let answers = await withTaskGroup(of: Visitor.Answer?.self) { group in
                    for number in 0..<20 {
                        group.addTask {
                            try? await visitor.confirm(code, headers: ["X-Forwarded-For": "203.0.113.\(number + 1)"])
                        }
                    }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                try await shot
                #expect(answers.count { $0?.isSuccess == true } <= 1)
                try await eventually("the system is ready again") { await system.isReady() }
                // The code is used, or still good for exactly one: never lost, never doubled.
                if answers.contains(where: { $0?.isSuccess == true }) {
                    #expect(try await visitor.confirm(code).isSuccess == false)
                }
                try await eventually("the code is used up") { try await visitor.confirm(code).error == "INVALID_OTP" }
            }
            try await system.end()
        }

        @Test func `a restart of everything keeps codes, attempts and budgets`() async throws {
            let system = try await LatchkeySystem.started()
            let visitor = Visitor(system)
            for _ in 0..<5 { #expect(try await visitor.send().isSuccess) }
            let code = try await visitor.code(after: 5)
            #expect(try await visitor.confirm(Visitor.wrong(code)).error == "INVALID_OTP")
            #expect(try await visitor.confirm(Visitor.wrong(code)).error == "INVALID_OTP")

            try await system.down()
            try await system.up(scale: ["verification": 2])
            #expect(try await visitor.send().isSuccess)
            #expect(try await visitor.confirm(code).isSuccess)
            #expect(try system.deliveries(to: visitor.email).count == 5)

            let other = Visitor(system)
            #expect(try await other.send().isSuccess)
            let second = try await other.code()
            #expect(try await other.confirm(Visitor.wrong(second)).error == "INVALID_OTP")
            #expect(try await other.confirm(Visitor.wrong(second)).error == "INVALID_OTP")
            try await system.down()
            try await system.up()
            #expect(try await other.confirm(Visitor.wrong(second)).error == "MAX_ATTEMPTS_EXCEEDED")
            try await system.end()
        }
    }
}
