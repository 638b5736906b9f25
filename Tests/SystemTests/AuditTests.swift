import Foundation
import HTTP
import JSON
import Testing

extension SystemTests {
    /// What an auditor sees of what users did.
    @Suite struct AuditTests {
        private static let shared = Shared()

        private func audit(_ system: LatchkeySystem, _ arguments: String...) async throws -> Program.Result {
            try await system.compose("run", ["identity", "audit"] + arguments)
        }

        private func events(_ system: LatchkeySystem, _ arguments: String...) async throws -> [JSON] {
            let result = try await system.compose("run", ["identity", "audit"] + arguments + ["--format", "jsonl"])
            #expect(result.status == 0, "\(result)")
            return try result.output.split(separator: "\n").map { try JSON.parse(String($0)) }
        }

        private func names(_ events: [JSON]) -> [String] {
            events.compactMap { $0["type"]?.string?.split(separator: ".").dropLast().last.map(String.init) }
        }

        @Test func `what a user did is told, by address and by id, until the user is erased`() async throws {
            let system = try await Self.shared.system()
            let visitor = Visitor(system)
            let registered = try await visitor.register()
            let id = try #require(registered.body?["data"]?["user"]?["id"]?.string)
            #expect(try await visitor.logIn().status == 200)
            #expect(try await visitor.logIn("wrong").status == 401)
            let reset: JSON = ["resetToken": .string(try await visitor.resetToken()), "newPassword": "Better-Horse-8"]
            #expect(try await visitor.ask(.post, "/api/auth/reset-password", reset).status == 200)
            let login = try await visitor.logIn("Better-Horse-8")
            // The notice of the reset is delivered some time later.
            try await eventually("both messages are delivered") { try system.deliveries(to: visitor.email).count == 2 }
            try await eventually("the log says so") {
                self.names(try await events(system, "user", id)).count { $0 == "delivered" } == 2
            }

            let history = try await events(system, "user", visitor.email)
            let told = names(history)
            for name in [
                "user-registered", "session-started", "login-failed", "code-issued", "reset-token-issued",
                "reset-token-consumed", "password-reset", "delivery-attempted", "delivered",
            ] {
                #expect(told.contains(name), "\(name) is missing in \(told)")
            }
            let times = history.compactMap { $0["appended"]?.string }
            #expect(times == times.sorted() && times.count == history.count)
            #expect(try await events(system, "user", id) == history)
            #expect(names(try await events(system, "user", id, "--type", "password-reset")) == ["password-reset"])
            #expect(try await events(system, "log", "--since", times[3]).contains(history[3]))
            let all = try await audit(system, "user", id)
            #expect(!all.output.contains(visitor.email) && !all.output.contains(visitor.address))
            let revealed = try await audit(system, "user", id, "--reveal")
            #expect(revealed.output.contains(visitor.email) && revealed.output.contains(visitor.address))

            #expect(try await audit(system, "erased", id).status == 1)
            let token = login.data("accessToken")
            let erased = try await visitor.ask(.delete, "/api/auth/me", ["password": "Better-Horse-8"], token: token)
            #expect(erased.status == 200)
            let answer = try await audit(system, "erased", id)
            #expect(answer.status == 0, "\(answer)")
            #expect(try await audit(system, "user", id, "--reveal").output.contains(visitor.email) == false)
            #expect(try await audit(system, "user", "nobody@latchkey-test.example").status == 1)
            #expect(try await audit(system, "user", "nobody").status == 2)
        }

        @Test func `what is piped into a program that stops to read ends quietly`() async throws {
            let system = try await Self.shared.system()
            for _ in 0..<3 { #expect(try await Visitor(system).send().isSuccess) }
            for follow in ["", "--follow"] {
                let script = #"set -o pipefail; "$0/run" identity audit log \#(follow) | head -n 2"#
                let result = try await Program.run(
                    "/usr/bin/timeout", ["60", "/bin/bash", "-c", script, LatchkeySystem.repository + "/compose"],
                    environment: system.environment)
                #expect(result.status == 0, "\(result)")
                #expect(result.output.split(separator: "\n").count == 2)
                #expect(result.errors.isEmpty)
            }
        }

        @Test(.enabled(if: TestKafka.given != nil && TestKafka.canRead, "LATCHKEY_TEST_KAFKA names no Kafka"))
        func `what somebody did who can write to the brokers is named`() async throws {
            let kafka = try #require(TestKafka.given)
            let system = try await LatchkeySystem.started()
            let visitor = Visitor(system)
            #expect(try await visitor.register().status == 201)
            for _ in 0..<3 { #expect(try await visitor.logIn().status == 200) }
            let proof = system.folder + "/proof.json"
            #expect(try await audit(system, "prove", "--output", proof).status == 0)
            let event = try #require(try await events(system, "user", visitor.email, "--type", "user-registered").first)
            let (partition, first) = (try #require(event["partition"]?.int64), try #require(event["offset"]?.int64))
            let place = "identity.events/\(partition)"

            // A record that nobody wrote who holds the key: the users notice nothing, auditors do.
            let topic = system.topicPrefix + "identity.events"
            try await kafka.forge(
                "{\"user\":\"somebody\"}", type: "latchkey.identity.user-erased.v1", in: topic, partition: Int(partition))
            #expect(try await visitor.logIn().status == 200)
            let forged = try await audit(system, "prove", "--since", proof)
            #expect(forged.status == 1)
            #expect(forged.output.contains("\(place): inserted at offset "), "\(forged)")

            // What lies before an offset is taken away.
            guard kafka.canDeleteRecords else { return try await system.end() }
            try await kafka.deleteRecords(before: first + 2, in: topic, partition: Int(partition))
            for arguments in [[], ["--without-keys"], ["--since", proof]] {
                let cut = try await system.compose("run", ["identity", "audit", "prove"] + arguments)
                #expect(cut.status == 1)
                #expect(cut.output.contains("\(place): removed at offset 0 "), "\(arguments): \(cut)")
            }
            try await system.end()
        }

        @Test(.enabled(if: TestKafka.given == nil, "the log does not lie in the database"))
        func `what was changed in the database is named`() async throws {
            let system = try await LatchkeySystem.started()
            for _ in 0..<4 {
                let visitor = Visitor(system)
                let onboarding = try await visitor.register()
                #expect(onboarding.status == 201)
                #expect(try await visitor.logIn().status == 200)
                #expect(try await visitor.logIn().status == 200)
            }
            let proof = system.folder + "/proof.json"
            let proven = try await audit(system, "prove", "--output", proof)
            #expect(proven.status == 0, "\(proven)")
            #expect(try await audit(system, "prove", "--without-keys").status == 0)
            #expect(try await audit(system, "prove", "--since", proof).status == 0)
            _ = try await Visitor(system).register()
            let later = try await audit(system, "prove", "--since", proof)
            #expect(later.status == 0, "\(later)")

            let events = "topic = (SELECT id FROM log.topics WHERE name = 'identity.events')"
            let places = try await system.sql(
                "SELECT partition, min(\"offset\") FROM log.lasting_records WHERE \(events) GROUP BY 1 HAVING count(*) >= 3")
            let place = try #require(places.first?.split(separator: "|"))
            let row = "\(events) AND partition = \(place[0]) AND \"offset\" = \(place[1]) + 1"
            _ = try await system.sql(
                "UPDATE log.lasting_records SET value = set_byte(value, 9, get_byte(value, 9) # 1) WHERE \(row)")
            let offset = try #require(Int(place[1])) + 1
            for arguments in [[], ["--without-keys"], ["--since", proof]] {
                let broken = try await system.compose("run", ["identity", "audit", "prove"] + arguments)
                #expect(broken.status == 1)
                #expect(
                    broken.output.contains("identity.events/\(place[0]): changed at offset \(offset) "), "\(arguments): \(broken)"
                )
            }
            _ = try await system.sql("DELETE FROM log.lasting_records WHERE \(row)")
            let removed = try await audit(system, "prove")
            #expect(removed.status == 1)
            #expect(removed.output.contains("identity.events/\(place[0]): removed at offset \(offset) "), "\(removed)")
            try await system.end()
        }
    }
}
