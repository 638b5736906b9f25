import EventLog
import EventLogSimulated
import EventSchema
import NotifierDomain
import Runtime
import Synchronization
import TestSupport
import Testing

@testable import NotifierService

extension ServiceTests {
    /// Failures, retries, fail-over and operators, through log and Postgres.
    @Suite struct RetryTests {
        private let scene: NotifierScene
        private let quick = RetrySchedule(first: .milliseconds(20), longest: .milliseconds(40), attempts: 4)

        init() throws { scene = try NotifierScene() }

        @Test func `a failed attempt is followed by another one`() async throws {
            let failures = Atomic<Int>(2)
            let provider = ScriptedProvider("scripted") { messages in
                messages.map { _ in
                    failures.subtract(1, ordering: .relaxed).newValue >= 0 ? .failed(.unavailable) : .delivered(providerID: "m")
                }
            }
            let instance = try scene.start([provider], schedule: quick)
            try scene.issue(1)
            #expect(try await waitUntil { scene.count("delivered") == 1 })
            #expect(
                scene.events() == [
                    "delivery-attempted", "delivery-failed", "delivery-attempted", "delivery-failed", "delivery-attempted",
                    "delivered",
                ])
            let texts = Set(provider.calls.joined().map(\.text))
            #expect(provider.calls.count == 3 && texts.count == 1, "all attempts say the same")
            try await instance.stop()
        }

        @Test func `a retry survives a restart`() async throws {
            let slow = RetrySchedule(first: .seconds(2), longest: .seconds(2), attempts: 4)
            let first = try scene.start([ScriptedProvider("scripted") { $0.map { _ in .failed(.unavailable) } }], schedule: slow)
            try scene.issue(1)
            #expect(try await waitUntil { try scene.sends().map(\.status) == ["waiting"] })
            first.crash()
            let second = try scene.start([ScriptedProvider("scripted")], schedule: slow)
            #expect(try await waitUntil { scene.count("delivered") == 1 })
            #expect(scene.count("delivery-attempted") == 2)
            try await second.stop()
        }

        @Test func `the second provider takes over from the first`() async throws {
            let (bad, good) = (ScriptedProvider("bad") { $0.map { _ in .failed(.unauthorized) } }, ScriptedProvider("good"))
            let instance = try scene.start([bad, good])
            try scene.issue(1)
            #expect(try await waitUntil { scene.count("delivered") == 1 })
            #expect(bad.calls.count == 1)
            #expect(good.calls.count == 1)
            try await instance.stop()
        }

        @Test func `what failed for good can be tried again by an operator, once per command`() async throws {
            let refuses = Atomic<Bool>(true)
            let provider = ScriptedProvider("scripted") { messages in
                messages.map { _ in refuses.load(ordering: .relaxed) ? .failed(.messageRefused) : .delivered(providerID: nil) }
            }
            let instance = try scene.start([provider])
            try scene.issue(1)
            #expect(try await waitUntil { try scene.sends().map(\.status) == ["failed"] })
            let send = try #require(scene.sends().first)
            #expect(send.reason == "message_refused")

            let command = scene.retry(send.id, of: 1)
            #expect(try await waitUntil { scene.replies() == ["ok"] })
            #expect(
                try await waitUntil { try scene.sends().map(\.status) == ["failed"] && scene.count("delivery-attempted") == 2 })
            // The same command again, also for an instance that remembers nothing: the same answer, and nothing happens.
            try await instance.stop()
            let next = try scene.start([provider])
            scene.retry(send.id, of: 1, id: command, request: 2)
            #expect(try await waitUntil { scene.replies(to: 2) == ["ok"] })
            #expect(scene.count("delivery-attempted") == 2)

            refuses.store(false, ordering: .relaxed)
            scene.retry(send.id, of: 1)
            #expect(try await waitUntil { scene.count("delivered") == 1 })
            #expect(try await waitUntil { try scene.sends().isEmpty })
            try await next.stop()
        }

        @Test func `an operator is told what cannot be tried again`() async throws {
            let gate = Gate()
            let provider = ScriptedProvider("scripted") { messages in
                gate.wait()
                return messages.map { _ in .delivered(providerID: nil) }
            }
            let instance = try scene.start([provider])
            scene.retry(.random(), of: 1)
            #expect(try await waitUntil { scene.replies() == ["NOT_FOUND"] })
            try scene.issue(1)
            #expect(try await waitUntil { gate.count == 1 })
            let send = try #require(scene.sends().first)
            scene.retry(send.id, of: 1, request: 2)
            #expect(try await waitUntil { scene.replies(to: 2) == ["NOT_FAILED"] })
            gate.open()
            #expect(try await waitUntil { scene.count("delivered") == 1 })
            try await instance.stop()
        }

        @Test func `the subcommands list what stopped, and ask for another attempt`() async throws {
            let refuses = Atomic<Bool>(true)
            let provider = ScriptedProvider("scripted") { messages in
                messages.map { _ in refuses.load(ordering: .relaxed) ? .failed(.recipientRefused) : .delivered(providerID: nil) }
            }
            let instance = try scene.start([provider])
            let sends = StoppedSends(database: NotifierScene.configuration(of: scene.database))
            #expect(try sends.table().split(separator: "\n").count == 1)
            try scene.issue(1)
            #expect(try await waitUntil { try scene.sends().map(\.status) == ["failed"] })
            let id = try #require(scene.sends().first).id.text
            let lines = try sends.table().split(separator: "\n")
            #expect(lines.count == 2)
            #expect(lines[0].hasPrefix("ID "))
            #expect(lines[1].hasPrefix("\(id)  failed"))
            #expect(lines[1].contains("recipient_refused"))
            #expect(!lines[1].contains("example.com"))

            let request = RetryRequest(log: scene.log, authenticator: scene.authenticator, sends: sends, patience: .seconds(30))
            refuses.store(false, ordering: .relaxed)
            #expect(try await onThread { try request.perform(id) } == .accepted)
            #expect(try await waitUntil { scene.count("delivered") == 1 })
            #expect(try await waitUntil { try scene.sends().isEmpty })
            #expect(try await onThread { try request.perform(id) } == .unknownSend)
            #expect(try await onThread { try request.perform("x") } == .unknownSend)
            try await instance.stop()
        }

        @Test func `who asks while no notifier runs is told so, and nothing happens later`() async throws {
            let instance = try scene.start([ScriptedProvider("scripted") { $0.map { _ in .failed(.messageRefused) } }])
            try scene.issue(1)
            #expect(try await waitUntil { try scene.sends().map(\.status) == ["failed"] })
            try await instance.stop()
            let id = try #require(scene.sends().first).id.text
            let sends = StoppedSends(database: NotifierScene.configuration(of: scene.database))
            let request = RetryRequest(
                log: scene.log, authenticator: scene.authenticator, sends: sends, patience: .milliseconds(200))
            #expect(try await onThread { try request.perform(id) } == .silence)
            scene.clock.advance(by: .seconds(1))
            let next = try scene.start([ScriptedProvider("scripted")])
            try scene.issue(2)
            #expect(try await waitUntil { scene.count("delivered") == 1 })
            #expect(scene.count("delivery-attempted") == 2)
            try await next.stop()
        }

        private func onThread<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
            let pool = BlockingPool(name: "operator", threads: 1)
            defer { pool.close() }
            return try await pool.run(work)
        }

        @Test func `without a provider the send stands among the failed ones`() async throws {
            let instance = try scene.start([], route: [])
            try scene.issue(1)
            #expect(try await waitUntil { try scene.sends().map(\.status) == ["failed"] })
            #expect(try scene.sends().first?.reason == "not_configured")
            try await instance.stop()
        }

        @Test func `no address and no code stands in the log or in Postgres`() async throws {
            let instance = try scene.start([ScriptedProvider("scripted") { $0.map { _ in .failed(.messageRefused) } }])
            try scene.issue(739_201)
            #expect(try await waitUntil { try scene.sends().map(\.status) == ["failed"] })
            let secrets = ["code739201@example.com", "739201"].map { Array($0.utf8) }
            for topic in Topic.allCases {
                for partition in 0..<topic.partitions(of: NotifierScene.partitions) {
                    for record in scene.log.records(of: TopicPartition(topic, partition)) {
                        for secret in secrets { #expect(!contains(record.value, secret)) }
                    }
                }
            }
            for row in try scene.dump()["notifier.sends"] ?? [] {
                for secret in secrets { #expect(!contains(Array(row.utf8), secret)) }
            }
            try await instance.stop()
        }

        private func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
            bytes.indices.contains { bytes[$0...].starts(with: part) }
        }
    }
}
