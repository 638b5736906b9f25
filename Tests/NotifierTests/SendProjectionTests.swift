import Crypto
import EventLog
import EventSchema
import LoopService
import NotifierDomain
import Postgres
import Projections
import TestSupport
import Testing

@testable import NotifierService

extension ServiceTests {
    /// The open sends as a projection: rebuilt it is the same, and nobody writes to it who should not.
    @Suite struct SendProjectionTests {
        private let scene: NotifierScene

        init() throws { scene = try NotifierScene() }

        /// What an instance told of a random history: codes, failures of all kinds, retries.
        private func history() async throws -> [ConfirmedEvent<DeliveryEvent>] {
            let provider = ScriptedProvider("scripted") { messages in
                messages.map { message in
                    switch message.id.bytes[3] % 6 {
                    case 0: .failed(.unavailable)
                    case 1: .failed(.messageRefused)
                    case 2: .unknown
                    default: .delivered(providerID: nil)
                    }
                }
            }
            let schedule = RetrySchedule(first: .milliseconds(10), longest: .milliseconds(20), attempts: 3)
            let instance = try scene.start([provider], schedule: schedule)
            for number in 1...60 { try scene.issue(number) }
            #expect(
                try await waitUntil {
                    let sends = try scene.sends()
                    return scene.count("delivered") + sends.count == 60
                        && sends.allSatisfy { ["failed", "unknown"].contains($0.status) }
                })
            for (index, send) in try scene.sends().enumerated() where index % 3 == 0 {
                // Whose it is matters for the partition alone.
                let read: SQL = "SELECT subject FROM notifier.sends WHERE id = \(PostgresUUID(send.id.bytes))"
                let subject = try scene.query(read).column([UInt8].self)
                let number = (1...60).first { SealedCodes.subject($0).bytes == subject.first }
                scene.retry(send.id, of: try #require(number))
            }
            let asked = try (scene.sends().count + 2) / 3
            #expect(asked > 0)
            let answered: SQL = "SELECT count(*) FROM notifier.outcomes"
            #expect(
                try await waitUntil {
                    try scene.query(answered).column(Int.self) == [asked]
                        && scene.sends().allSatisfy { ["failed", "unknown"].contains($0.status) }
                })
            try await instance.stop()
            return instance.loop.happened
        }

        /// Projects events into empty tables, a few at a time.
        private func rebuild(
            _ events: [ConfirmedEvent<DeliveryEvent>], into database: TestDatabase, _ random: inout some RandomNumberGenerator
        ) throws {
            let store = NotifierScene.Store(
                DeliveryTables(domain: DeliveryPartition(routes: [:])), connection: NotifierScene.configuration(of: database))
            #expect(try store.checkpoints(of: Array(0..<NotifierScene.partitions)).isEmpty)
            var rest = Dictionary(grouping: events) { $0.envelope.partition.partition }.mapValues { $0[...] }
            var reached: [Int: ChainPosition] = [:]
            while rest.contains(where: { !$0.value.isEmpty }) {
                var batches: [Int: ProjectionBatch<DeliveryEvent>] = [:]
                for (partition, events) in rest where Bool.random(using: &random) {
                    let batch = events.prefix(Int.random(in: 1...20, using: &random))
                    guard let last = batch.last else { continue }
                    rest[partition] = events.dropFirst(batch.count)
                    batches[partition] = ProjectionBatch(
                        from: reached[partition], to: Checkpoint(position: last.position, answersFrom: last.position),
                        events: Array(batch))
                    reached[partition] = last.position
                }
                for (partition, outcome) in try store.project(batches) {
                    guard case .projected = outcome else {
                        Issue.record("partition \(partition) was not projected")
                        return
                    }
                }
            }
        }

        @Test func `a rebuild gives the same rows as the live projection`() async throws {
            let events = try await history()
            let live = try scene.dump()
            #expect(!(live["notifier.sends"] ?? []).isEmpty)
            #expect(!(live["notifier.outcomes"] ?? []).isEmpty)
            var random = SystemRandomNumberGenerator()
            for _ in 1...3 {
                let other = try NotifierScene.migratedDatabase()
                try rebuild(events, into: other, &random)
                #expect(try scene.dump(of: other) == live)
            }
        }

        // MARK: Who may write

        private func events(_ count: Int) async throws -> [ConfirmedEvent<DeliveryEvent>] {
            let instance = try scene.start([ScriptedProvider("scripted") { $0.map { _ in .failed(.messageRefused) } }])
            for number in 1...count { try scene.issue(number) }
            #expect(
                try await waitUntil {
                    let sends = try scene.sends()
                    return sends.count == count && sends.allSatisfy { $0.status == "failed" }
                })
            try await instance.stop()
            return instance.loop.happened
        }

        private func batch(_ events: [ConfirmedEvent<DeliveryEvent>], from: ChainPosition? = nil) throws -> ProjectionBatch<
            DeliveryEvent
        > {
            let last = try #require(events.last)
            return ProjectionBatch(
                from: from, to: Checkpoint(position: last.position, answersFrom: last.position), events: events)
        }

        @Test func `a batch that does not start where the checkpoint stands changes nothing, others in it do`() async throws {
            let all = Dictionary(grouping: try await events(40)) { $0.envelope.partition.partition }
            let (one, two) = (try #require(all[0]), try #require(all[1]))
            let database = try NotifierScene.migratedDatabase()
            let store = NotifierScene.Store(
                DeliveryTables(domain: DeliveryPartition(routes: [:])), connection: NotifierScene.configuration(of: database))
            _ = try store.checkpoints(of: [0, 1])

            let first = try store.project([0: batch(Array(one.prefix(2)))])
            guard case .projected? = first[0] else {
                Issue.record("not projected")
                return
            }
            let before = try scene.dump(of: database)

            // The same again, a step too far, and the first of another partition.
            let outcomes = try store.project([
                0: batch(Array(one.dropFirst(3)), from: one[2].position), 1: batch(two),
            ])
            guard case .conflict(let stored)? = outcomes[0] else {
                Issue.record("no conflict")
                return
            }
            #expect(stored?.position == one[1].position)
            guard case .projected? = outcomes[1] else {
                Issue.record("not projected")
                return
            }
            guard case .conflict? = try store.project([0: batch(Array(one.prefix(2)))])[0] else {
                Issue.record("no conflict")
                return
            }

            let ids = Set(one.compactMap { $0.event?.send.text })
            let own = try scene.dump(of: database)["notifier.sends"]?.filter { row in ids.contains { row.contains($0) } }
            #expect(own == before["notifier.sends"])
            #expect(
                try store.checkpoints(of: [0, 1, 2]).mapValues(\.position) == [
                    0: one[1].position, 1: two[two.count - 1].position,
                ])
        }

        @Test func `what was read from tables that a rebuild has replaced is not written`() async throws {
            let events = try await events(1)
            let database = try NotifierScene.migratedDatabase()
            let store = NotifierScene.Store(
                DeliveryTables(domain: DeliveryPartition(routes: [:])), connection: NotifierScene.configuration(of: database))
            let partition = try #require(events.first).envelope.partition.partition
            _ = try store.checkpoints(of: [partition])
            try database.connect().query("UPDATE notifier.generation SET number = number + 1")
            guard case .conflict(nil)? = try store.project([partition: batch(events)])[partition] else {
                Issue.record("no conflict")
                return
            }
            #expect(try scene.dump(of: database)["notifier.sends"] == [])
            // Once it knows the new generation, it writes to it.
            guard case .projected? = try store.project([partition: batch(events)])[partition] else {
                Issue.record("not projected")
                return
            }
            #expect(try scene.dump(of: database)["notifier.sends"]?.count == 1)
        }

        @Test func `a swap waits for a write, and a write for a swap`() async throws {
            let events = try await events(1)
            let database = try NotifierScene.migratedDatabase()
            let store = NotifierScene.Store(
                DeliveryTables(domain: DeliveryPartition(routes: [:])), connection: NotifierScene.configuration(of: database))
            let partition = try #require(events.first).envelope.partition.partition
            _ = try store.checkpoints(of: [partition])
            let swap = try database.connect()
            let batch = try batch(events)
            let outcome = try swap.transaction { swap in
                try swap.query("UPDATE notifier.generation SET number = number + 1")
                try swap.query("ALTER TABLE notifier.sends RENAME TO old_sends")
                try swap.query("CREATE TABLE notifier.sends (LIKE notifier.old_sends INCLUDING ALL)")
                return Task.detached { try store.project([partition: batch]) }
            }
            guard case .conflict? = try await outcome.value[partition] else {
                Issue.record("no conflict")
                return
            }
            #expect(try database.connect().query("SELECT count(*) FROM notifier.old_sends").column(Int64.self) == [0])
            #expect(try database.connect().query("SELECT count(*) FROM notifier.sends").column(Int64.self) == [0])
        }

        @Test func `a batch is loaded as it was projected`() async throws {
            let events = try await events(5)
            let store = NotifierScene.Store(
                DeliveryTables(domain: DeliveryPartition(routes: [:])),
                connection: NotifierScene.configuration(of: scene.database))
            var states: [MessageID: Delivery.State] = [:]
            for event in events.compactMap(\.event) {
                Delivery.evolve(&states[event.send, default: .absent], with: event.content)
            }
            let keys = Array(states.keys)
            let loaded = try store.load([0: LoadRequest(keys: keys), 1: LoadRequest(keys: [.random()])])
            #expect(loaded[0]?.aggregates == states)
            #expect(loaded[1]?.aggregates == [:])
            #expect(states.values.allSatisfy { if case .failed = $0 { true } else { false } })
        }
    }
}
