import EventSchema
import NotifierDomain
import TestSupport
import Testing

@testable import NotifierService

extension ServiceTests {
    /// Where a notifier can stop between the event that asks for a message and the event that says how it ended.
    @Suite struct CrashPointTests {
        private let scene: NotifierScene

        init() throws { scene = try NotifierScene() }

        @Test func `a code is attempted, delivered and over`() async throws {
            let instance = try scene.start()
            try scene.issue(1)
            #expect(try await waitUntil { scene.count("delivered") == 1 })
            #expect(try scene.delivered() == [NotifierScene.code(1)])
            #expect(try await waitUntil { try scene.sends().isEmpty })
            #expect(scene.events() == ["delivery-attempted", "delivered"])
            try await instance.stop()
        }

        @Test func `a decoy leaves no trace`() async throws {
            let instance = try scene.start()
            try scene.issue(1, decoy: true)
            try scene.issue(2)
            #expect(try await waitUntil { scene.count("delivered") == 1 })
            #expect(try scene.delivered() == [NotifierScene.code(2)])
            #expect(scene.count("delivery-attempted") == 1)
            try await instance.stop()
        }

        @Test func `a notifier that stops before it sends leaves it to the next one`() async throws {
            let gate = Gate()
            let console = try scene.console()
            let paused = ScriptedProvider(
                "console", removesDoubles: true,
                script: { messages in
                    gate.wait()
                    return console.deliver(messages)
                }, taken: { console.hasTaken($0, since: Timestamp(milliseconds: 0)) })
            let first = try scene.start([paused])
            try scene.issue(1)
            #expect(try await waitUntil { gate.count == 1 })
            first.crash()
            #expect(try scene.delivered().isEmpty)

            let second = try scene.start()
            #expect(try await waitUntil { scene.count("delivered") == 1 })
            #expect(try scene.delivered() == [NotifierScene.code(1)])

            // The first one wakes up, long after it was given up.
            gate.open()
            #expect(try await waitUntil { paused.calls.count == 1 })
            try scene.issue(2)
            #expect(try await waitUntil { scene.count("delivered") == 2 })
            #expect(try scene.delivered() == [NotifierScene.code(1), NotifierScene.code(2)])
            try await second.stop()
        }

        @Test func `a notifier that stops after it sent does not make the next one send`() async throws {
            let gate = Gate()
            let console = try scene.console()
            let paused = ScriptedProvider("console", removesDoubles: true) { messages in
                let results = console.deliver(messages)
                gate.wait()
                return results
            }
            let first = try scene.start([paused])
            try scene.issue(1)
            #expect(try await waitUntil { gate.count == 1 })
            first.crash()
            #expect(try scene.delivered() == [NotifierScene.code(1)])

            let second = try scene.start()
            #expect(try await waitUntil { scene.count("delivered") == 1 })
            #expect(try await waitUntil { try scene.sends().isEmpty })
            #expect(try scene.delivered() == [NotifierScene.code(1)])
            gate.open()
            try await second.stop()
        }

        @Test func `an attempt that may have been made is not made again where nobody can tell`() async throws {
            let gate = Gate()
            let first = try scene.start([
                ScriptedProvider("smtp") { messages in
                    gate.wait()
                    return messages.map { _ in .delivered(providerID: nil) }
                }
            ])
            try scene.issue(1)
            #expect(try await waitUntil { gate.count == 1 })
            first.crash()

            let other = ScriptedProvider("smtp")
            let second = try scene.start([other])
            #expect(try await waitUntil { try scene.sends().map(\.status) == ["unknown"] })
            #expect(other.calls.isEmpty)
            gate.open()
            try await second.stop()
        }

        @Test func `a shutdown finishes what a provider is busy with`() async throws {
            let gate = Gate()
            let console = try scene.console()
            let slow = ScriptedProvider("console", removesDoubles: true) { messages in
                gate.wait()
                return console.deliver(messages)
            }
            let instance = try scene.start([slow])
            try scene.issue(1)
            #expect(try await waitUntil { gate.count == 1 })
            async let stopped: Void = instance.stop()
            gate.open()
            try await stopped
            #expect(try scene.delivered() == [NotifierScene.code(1)])
            #expect(scene.count("delivered") == 1)
        }

        @Test func `nothing is sent after the code's time`() async throws {
            let gate = Gate()
            let console = try scene.console()
            let busy = ScriptedProvider(
                "console", removesDoubles: true, batchSize: 1,
                script: { messages in
                    if gate.count == 0 { gate.wait() }
                    return console.deliver(messages)
                })
            let instance = try scene.start([busy])
            try scene.issue(1)
            #expect(try await waitUntil { gate.count == 1 })
            try scene.issue(2)
            #expect(try await waitUntil { try scene.sends().count == 2 })
            scene.clock.advance(by: .minutes(6))
            // The log's clock is learnt by what is appended.
            try scene.issue(3)
            #expect(try await waitUntil { try scene.sends().count == 3 })
            gate.open()
            #expect(try await waitUntil { scene.count("delivery-expired") == 1 })
            #expect(try await waitUntil { scene.count("delivered") == 2 })
            #expect(try scene.delivered().sorted() == [NotifierScene.code(1), NotifierScene.code(3)])
            try await instance.stop()
        }

        @Test func `many notifiers, crashes and restarts deliver each code once`() async throws {
            let codes = 120
            var instances = [try scene.start(), try scene.start()]
            for number in 1...codes {
                try scene.issue(number)
                if number % 30 == 0 {
                    instances.removeFirst().crash()
                    instances.append(try scene.start())
                }
            }
            #expect(try await waitUntil(within: .seconds(60)) { scene.count("delivered") >= codes })
            #expect(try await waitUntil { try scene.sends().isEmpty })
            #expect(try scene.delivered().sorted() == (1...codes).map(NotifierScene.code))
            for instance in instances { try await instance.stop() }
        }
    }
}
