import EventLog
import EventSchema
import Postgres
import Runtime
import Synchronization
import TestSupport
import Testing

@testable import Crypto
@testable import Sealing

@Suite(.timeLimit(.minutes(1))) struct RotatingPairs {
    private let database: TestDatabase
    private let connection: PostgresConnection
    private let log = FakeLog(at: morning)
    private let clock = Clock(morning)
    private let secret = Secret.random(count: 32)

    init() throws {
        database = try TestDatabase.create()
        connection = try database.connect()
        try SealingKeyStore.migrations(schema: "notifier_sealing").apply(over: connection)
    }

    private var configuration: PostgresConnection.Configuration {
        PostgresConnection.Configuration(database.connectionString, applicationName: "test")
    }

    private func store(_ secret: Secret? = nil, accepted: [Secret] = []) -> SealingKeyStore {
        SealingKeyStore(
            service: .notifier, schema: "notifier_sealing", secret: secret ?? self.secret, accepted: accepted, opener: BoxOpener()
        )
    }

    private func box(to key: SealingKeyPublished) throws -> Box {
        try BoxSealer().seal([7], to: RecipientKey(id: key.key, publicKey: key.publicKey), context: [1])
    }

    @Test func `everybody seals to a new pair soon, every instance opens both, and the next day has its own`() async throws {
        let stores = [store(), store()]
        let keepers = try stores.map { store in
            // Long before the next time that own keys are looked after.
            try makeKeeper(
                log: log, clock: clock, .daily(store, database: configuration, isRead: { _ in true }), interval: .seconds(600))
        }
        try await running(keepers[0]) {
            try await running(keepers[1]) {
                try await eventually("ready") { keepers.allSatisfy { $0.readiness.isReady } }
                let old = try #require(keepers[0].directory.newest(.notifier, at: morning))
                let rotation = SealingRotation(
                    store(), log: log, authenticator: try authenticator(), database: configuration)
                let new = try rotation.run()
                #expect(new.notBefore > morning && new.notBefore <= morning + .seconds(10))
                #expect(keepers[0].directory.newest(.notifier, at: morning)?.key == old.key)
                try await eventually("both hold it") { stores.allSatisfy { $0.opener.holds(new.key) } }
                for keeper in keepers { #expect(keeper.directory.newest(.notifier, at: new.notBefore) == new) }
                for store in stores {
                    #expect(try store.opener.open(box(to: old), context: [1]) == [7])
                    #expect(try store.opener.open(box(to: new), context: [1]) == [7])
                }
                // Another one, on the same day.
                log.state.withLock { $0.clock = $0.clock + .seconds(1) }
                let newest = try rotation.run()
                #expect(newest.key != new.key)
            }
        }
        let tomorrow = try store().refresh(over: connection, at: today + .days(1))
        #expect(tomorrow.contains { $0.notBefore == today + .days(1) })
        // All of them go in their turn.
        let last = store()
        _ = try last.refresh(over: connection, at: today + .days(4))
        let destroyed = try last.destroy(over: connection, at: today + .days(4), isRead: { _ in true })
        #expect(destroyed.count >= 3)
    }

    @Test func `pairs are wrapped anew under another secret`() throws {
        let other = Secret.random(count: 32)
        let keys = try store().refresh(over: connection, at: morning)
        #expect(try store(other, accepted: [secret]).rewrap(over: connection) == 1)
        #expect(try store(other, accepted: [secret]).rewrap(over: connection) == 0)
        #expect(try store(other).refresh(over: connection, at: morning) == keys)
        #expect(throws: SealingError.self) { try store().refresh(over: connection, at: morning) }
        #expect(throws: SealingError.self) { try store(.random(count: 32)).rewrap(over: connection) }
    }
}
