import Crypto
import EventLog
import EventSchema
import Postgres
import Runtime
import Synchronization
import TestSupport
import Testing

@testable import Sealing

@Suite(.timeLimit(.minutes(1))) struct KeepingDailyPairs {
    private let log = FakeLog(at: morning)
    private let clock = Clock(morning)
    private let secret = Secret.random(count: 32)
    private let database: TestDatabase

    init() throws {
        database = try TestDatabase.create()
        try SealingKeyStore.migrations(schema: "notifier_sealing").apply(over: try database.connect())
    }

    private func store(_ secret: Secret? = nil) -> SealingKeyStore {
        SealingKeyStore(service: .notifier, schema: "notifier_sealing", secret: secret ?? self.secret, opener: BoxOpener())
    }

    private func keeper(
        _ store: SealingKeyStore, database string: String? = nil, metrics: Metrics = Metrics(),
        interval: Duration = .milliseconds(40), isRead: @escaping @Sendable (Timestamp) -> Bool = { _ in false }
    ) throws -> KeyKeeper {
        let connection = PostgresConnection.Configuration(string ?? database.connectionString, applicationName: "keys")
        return try makeKeeper(
            log: log, clock: clock, .daily(store, database: connection, isRead: isRead), metrics: metrics,
            interval: interval)
    }

    /// What senders would seal now opens.
    private func opens(_ store: SealingKeyStore, by directory: KeyDirectory) throws -> Bool {
        guard let recipient = directory.recipient(.notifier, at: clock.now) else { return false }
        let box = try BoxSealer().seal([7], to: recipient, context: [1])
        return store.opener.open(box, context: [1]) == [7]
    }

    @Test func `the pair of the day is committed, published once, and taken up after a restart`() async throws {
        for _ in 0..<2 {
            let (store, metrics) = (store(), Metrics())
            let keeper = try keeper(store, metrics: metrics)
            try await running(keeper) { try await eventually("ready") { keeper.readiness.isReady } }
            #expect(try opens(store, by: keeper.directory))
        }
        #expect(log.records.count == 1)
    }

    @Test func `what was committed and not published before a crash is published at the next start`() async throws {
        let committed = try store().refresh(over: database.connect(), at: morning)
        #expect(log.records.isEmpty)
        let store = store()
        let keeper = try keeper(store)
        try await running(keeper) { try await eventually("ready") { keeper.readiness.isReady } }
        #expect(keeper.directory.keys(of: .notifier, after: morning) == committed)
        #expect(try opens(store, by: keeper.directory))
    }

    @Test func `two instances at once publish one pair, and both open what is sealed to it`() async throws {
        let stores = [store(), store()]
        let keepers = try stores.map { try keeper($0) }
        try await running(keepers[0]) {
            try await running(keepers[1]) {
                try await eventually("both are ready") { keepers.allSatisfy { $0.readiness.isReady } }
                for store in stores {
                    for keeper in keepers { #expect(try opens(store, by: keeper.directory)) }
                }
                #expect(Set(log.records.map(\.key)).count == 1)
                // Before midnight both hold the next pair.
                clock.advance(by: today + .days(1) - .minutes(30) - morning)
                try await eventually("both hold the next pair") { stores.allSatisfy { $0.keyIDs.count == 2 } }
                try await eventually("it is published") {
                    keepers.allSatisfy { $0.directory.keys(of: .notifier, after: morning).count == 2 }
                }
                clock.advance(by: .minutes(30))
                for store in stores {
                    for keeper in keepers { #expect(try opens(store, by: keeper.directory)) }
                }
                #expect(
                    keepers[0].directory.recipient(.notifier, at: clock.now)?.id
                        != String(decoding: log.records[0].key, as: UTF8.self))
            }
        }
    }

    @Test func `rows that were lost are made anew, and the other instance takes them up at once`() async throws {
        let stores = [store(), store()]
        let keepers = try stores.map { try keeper($0, interval: .seconds(600)) }
        try await running(keepers[0]) {
            try await eventually("ready") { keepers[0].readiness.isReady }
            try database.connect().query("TRUNCATE notifier_sealing.sealing_keys")
            try await running(keepers[1]) {
                try await eventually("the new pair is everybody's") {
                    try stores.allSatisfy { try opens($0, by: keepers[0].directory) } && stores[0].keyIDs == stores[1].keyIDs
                }
            }
        }
    }

    @Test func `a pair is destroyed once its time is over and everything is read`() async throws {
        let (store, metrics) = (store(), Metrics())
        let reader = Reader()
        let keeper = try keeper(store, metrics: metrics) { reader.isRead(to: $0) }
        try await running(keeper) {
            try await eventually("ready") { keeper.readiness.isReady }
            let old = store.keyIDs
            clock.advance(by: .days(3))
            try await eventually("the next pair is there") { store.keyIDs.count == 2 && keeper.readiness.isReady }
            try await eventually("the reader was asked") { reader.asked == today + .days(2) + .hours(1) }
            #expect(store.keyIDs.isSuperset(of: old))
            reader.finish()
            try await eventually("it is gone") { store.keyIDs.isDisjoint(with: old) }
            #expect(try opens(store, by: keeper.directory))
            #expect(metrics.render().contains("latchkey_sealing_keys_destroyed_total 1"))
        }
    }

    @Test func `Postgres that is away is waited for`() async throws {
        let server = try TestServer()
        try SealingKeyStore.migrations(schema: "notifier_sealing")
            .apply(over: PostgresConnection(.init(server.connectionString, applicationName: "test")))
        server.kill()
        let store = store()
        let keeper = try keeper(store, database: server.connectionString)
        try await running(keeper) {
            try await eventually("says so") { keeper.readiness.obstacles.first?.obstacle == "Postgres is away" }
            try server.start()
            try await eventually("ready") { keeper.readiness.isReady }
            #expect(try opens(store, by: keeper.directory))
        }
        server.stop()
    }

    @Test func `another secret than that of the pairs ends the service`() async throws {
        _ = try store().refresh(over: database.connect(), at: morning)
        let keeper = try keeper(store(.random(count: 32)))
        await #expect {
            try await keeper.run()
        } throws: { error in
            if case .locked? = error as? SealingError { true } else { false }
        }
        #expect(log.records.isEmpty)
    }
}

/// Inboxes that are read to the end when the test says so.
private final class Reader: Sendable {
    private let state = Mutex<(asked: Timestamp?, isDone: Bool)>((nil, false))

    var asked: Timestamp? { state.withLock { $0.asked } }

    func finish() { state.withLock { $0.isDone = true } }

    func isRead(to time: Timestamp) -> Bool {
        state.withLock { state in
            state.asked = time
            return state.isDone
        }
    }
}
