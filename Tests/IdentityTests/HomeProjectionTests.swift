import Crypto
import EventLog
import EventSchema
import IdentityDomain
import IdentityService
import JSON
import Postgres
import Projections
import TestSupport
import Testing

extension ServiceTests {
    /// Random lives of accounts, through log, decisions and rows.
    @Suite struct HomeProjectionTests {
        private let scene: IdentityScene

        init() throws { scene = try IdentityScene() }

        private func rows(of homes: [RoutingKey], in database: TestDatabase) throws -> [RoutingKey: Home.State] {
            try scene.store(in: database).load([0: LoadRequest(keys: homes)])[0]?.aggregates ?? [:]
        }

        @Test(arguments: 1...3) func `rows say what a fold of the events says, whatever happened`(seed: UInt64) async throws {
            let instance = scene.start()
            var lives = RandomLives(seed: seed, scene: scene)
            for _ in 0..<25 {
                let sent = lives.round(scene.fold(instance))
                for command in sent { lives.learn(try await scene.answer(to: command)) }
                scene.clock.advance(by: lives.pause())
            }
            let folded = scene.fold(instance)
            instance.stop()
            #expect(lives.outcomes.count > 6, "the commands came to little: \(lives.outcomes)")
            let stored = try rows(of: Array(folded.keys), in: scene.database)
            for (home, state) in folded { expectSame(stored[home] ?? Home.initial, state, at: scene.clock.now) }

            // The same events in batches of any size make the same rows.
            let live = try scene.dump()
            let events = Dictionary(grouping: instance.happened) { $0.envelope.partition.partition }
            for size in [1, 7, 10_000] {
                let other = try IdentityScene.migratedDatabase()
                try project(events, in: other, size: size)
                #expect(try TableDump.rows(of: IdentityScene.tables, over: other.connect()) == live)
            }
        }

        private func project(
            _ events: [Int: [ConfirmedEvent<IdentityEvent>]], in database: TestDatabase, size: Int
        ) throws {
            let store = scene.store(in: database)
            _ = try store.checkpoints(of: Array(events.keys))
            var positions: [Int: ChainPosition] = [:]
            var rest = events.mapValues { $0[...] }
            while !rest.isEmpty {
                var batches: [Int: ProjectionBatch<IdentityEvent>] = [:]
                for (partition, events) in rest {
                    let batch = events.prefix(size)
                    guard let last = batch.last else { continue }
                    batches[partition] = ProjectionBatch(
                        from: positions[partition], to: Checkpoint(position: last.position, answersFrom: last.position),
                        events: Array(batch))
                    positions[partition] = last.position
                    rest[partition] = events.count > size ? events.dropFirst(size) : nil
                }
                for outcome in try store.project(batches).values {
                    guard case .projected = outcome else {
                        Issue.record("not projected")
                        return
                    }
                }
            }
        }

        /// Rows are swept of what has no influence any more; the fold keeps it.
        private func expectSame(_ left: Home.State, _ right: Home.State, at now: Timestamp) {
            #expect(left.users == right.users)
            #expect(left.onboarding == right.onboarding)
            #expect(left.devices == right.devices)
            #expect(left.sessions == right.sessions)
            for subject in Set(left.contacts.keys).union(right.contacts.keys) {
                func swept(_ contact: Home.Contact?) -> Home.Contact {
                    var contact = contact ?? Home.Contact()
                    if let flag = contact.flag, flag.until <= now { contact.flag = nil }
                    if contact.failures.isForgotten(at: now) { contact.failures = LoginBudget() }
                    contact.failuresByAddress = contact.failuresByAddress.filter { !$0.value.isForgotten(at: now) }
                    return contact
                }
                #expect(swept(left.contacts[subject]) == swept(right.contacts[subject]))
            }
        }
    }
}
