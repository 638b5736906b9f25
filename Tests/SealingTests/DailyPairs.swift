import Crypto
import EventSchema
import Postgres
import TestSupport
import Testing

@testable import Sealing

@Suite struct DailyPairs {
    private let database: TestDatabase
    private let connection: PostgresConnection
    private let secret = Secret.random(count: 32)

    init() throws {
        database = try TestDatabase.create()
        connection = try database.connect()
        try SealingKeyStore.migrations(schema: "notifier_sealing").apply(over: connection)
    }

    private func store(_ secret: Secret? = nil, _ service: ServiceName = .notifier) -> SealingKeyStore {
        SealingKeyStore(service: service, schema: "notifier_sealing", secret: secret ?? self.secret, opener: BoxOpener())
    }

    private func ids() throws -> [String] {
        try connection.query("SELECT id FROM notifier_sealing.sealing_keys ORDER BY day").column(String.self)
    }

    private func box(to key: SealingKeyPublished) throws -> Box {
        try BoxSealer().seal([7], to: RecipientKey(id: key.key, publicKey: key.publicKey), context: [1])
    }

    @Test func `the first refresh makes the pair of the day, and further ones keep it`() throws {
        let store = store()
        let keys = try store.refresh(over: connection, at: morning)
        let key = try #require(keys.first)
        #expect(keys.count == 1)
        #expect(key.service == .notifier && key.notBefore == today && key.notAfter == today + .days(2))
        #expect(key.key.hasPrefix("notifier:20513:") && RecipientKey.isWellFormed(id: key.key))
        #expect(try store.opener.open(box(to: key), context: [1]) == [7])
        #expect(try store.refresh(over: connection, at: morning + .hours(1)) == keys)
        #expect(try ids() == [key.key])
    }

    @Test func `another instance, or the same after a restart, takes the same pair up`() throws {
        let keys = try store().refresh(over: connection, at: morning)
        let other = store()
        #expect(try other.refresh(over: connection, at: morning + .minutes(5)) == keys)
        #expect(try other.opener.open(box(to: keys[0]), context: [1]) == [7])
        #expect(other.keyIDs == [keys[0].key])
    }

    @Test func `many instances at once agree on one pair`() async throws {
        let published = try await withThrowingTaskGroup(of: [SealingKeyPublished].self) { group in
            for _ in 0..<8 {
                let (store, database) = (store(), database)
                group.addTask {
                    let connection = try database.connect()
                    let keys = try store.refresh(over: connection, at: morning)
                    let box = try BoxSealer().seal(
                        [7], to: RecipientKey(id: keys[0].key, publicKey: keys[0].publicKey), context: [1])
                    #expect(store.opener.open(box, context: [1]) == [7])
                    return keys
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(published.count == 8 && published.allSatisfy { $0 == published[0] && $0.count == 1 })
        #expect(try ids().count == 1)
    }

    @Test func `towards the end of the day the next pair is made, to be used from midnight`() throws {
        let store = store()
        let midnight = today + .days(1)
        let first = try store.refresh(over: connection, at: midnight - .hours(1) - .milliseconds(1))
        #expect(first.count == 1)
        let both = try store.refresh(over: connection, at: midnight - .hours(1))
        #expect(both.count == 2 && both[0] == first[0])
        #expect(both[1].notBefore == midnight && both[1].notAfter == midnight + .days(2))
        #expect(try store.opener.open(box(to: both[1]), context: [1]) == [7])
        #expect(try store.refresh(over: connection, at: midnight) == both)
        // An instance that was away meanwhile holds all of them.
        #expect(try self.store().refresh(over: connection, at: midnight) == both)
    }

    @Test func `pairs that ended are not published, and still open what was sealed to them`() throws {
        let store = store()
        let key = try #require(try store.refresh(over: connection, at: morning).first)
        let later = try store.refresh(over: connection, at: today + .days(2))
        #expect(later.map(\.notBefore) == [today + .days(2)])
        #expect(try store.opener.open(box(to: key), context: [1]) == [7])
        #expect(try ids().count == 2)
    }

    @Test func `a pair is destroyed when its time is over and everything was read, and not before`() throws {
        let store = store()
        let key = try #require(try store.refresh(over: connection, at: morning).first)
        let box = try box(to: key)
        let lastUse = today + .days(2) + .hours(1)
        var asked: [Timestamp] = []

        // Too early: nobody is even asked.
        #expect(
            try store.destroy(over: connection, at: lastUse - .milliseconds(1)) { _ in
                Issue.record()
                return true
            }.isEmpty)
        // In time, but not everything is read.
        #expect(
            try store.destroy(over: connection, at: lastUse) {
                asked.append($0)
                return false
            }.isEmpty)
        #expect(asked == [lastUse])
        #expect(store.opener.open(box, context: [1]) == [7])
        #expect(try ids() == [key.key])

        #expect(try store.destroy(over: connection, at: lastUse) { _ in true } == [key.key])
        #expect(store.opener.open(box, context: [1]) == nil)
        #expect(store.keyIDs.isEmpty && !store.opener.holds(key.key))
        #expect(try ids().isEmpty)
        #expect(try store.destroy(over: connection, at: lastUse) { _ in true }.isEmpty)
        // The next one has another name, also on the same day.
        let fresh = try store.refresh(over: connection, at: morning)
        #expect(fresh.count == 1 && fresh[0].key != key.key)
    }

    @Test func `only the pairs whose time is over are destroyed`() throws {
        let store = store()
        for day in 0..<4 as Range<Int64> { _ = try store.refresh(over: connection, at: morning + .days(day)) }
        let all = try ids()
        #expect(all.count == 4)
        #expect(try store.destroy(over: connection, at: morning + .days(3)) { _ in true } == Array(all[..<2]))
        #expect(try ids() == Array(all[2...]))
        #expect(store.keyIDs == Set(all[2...]))
    }

    @Test func `what one instance destroyed the others drop`() throws {
        let (first, second) = (store(), store())
        let key = try #require(try first.refresh(over: connection, at: morning).first)
        _ = try second.refresh(over: connection, at: morning)
        let box = try box(to: key)
        let later = morning + .days(3)
        #expect(try first.destroy(over: connection, at: later) { _ in true } == [key.key])
        #expect(second.opener.open(box, context: [1]) == [7])
        _ = try second.refresh(over: connection, at: later)
        #expect(second.opener.open(box, context: [1]) == nil)
    }

    @Test func `nothing of a destroyed pair stays in the table's file`() throws {
        let store = store()
        _ = try store.refresh(over: connection, at: morning)
        let wrapped = try #require(
            try connection.query("SELECT wrapped FROM notifier_sealing.sealing_keys").column([UInt8].self).first)
        _ = try store.refresh(over: connection, at: morning + .days(2))
        func file() throws -> [UInt8] {
            try connection.script("CHECKPOINT")
            let path = try connection.query("SELECT pg_relation_filepath('notifier_sealing.sealing_keys')").column(String.self)[0]
            return try connection.query("SELECT pg_read_binary_file(\(path))").column([UInt8].self)[0]
        }
        #expect(try contains(file(), wrapped))
        #expect(try store.destroy(over: connection, at: morning + .days(3)) { _ in true }.count == 1)
        #expect(try !contains(file(), wrapped))
        #expect(try ids().count == 1)
    }

    @Test func `the private half is nowhere readable`() throws {
        let store = store()
        let key = try #require(try store.refresh(over: connection, at: morning).first)
        let row = try connection.query("SELECT wrapped, public_key FROM notifier_sealing.sealing_keys")
            .decode([UInt8].self, [UInt8].self)[0]
        #expect(row.0.count == 32 + SymmetricKey.overhead)
        #expect(row.1 == key.publicKey)
        for start in 0...(row.0.count - 32) {
            let pair = try KeyPair(privateKey: Secret(Array(row.0[start..<(start + 32)])))
            #expect(pair.publicKey != key.publicKey)
        }
    }

    @Test func `another secret cannot open the pairs, and says what to do`() throws {
        let key = try #require(try store().refresh(over: connection, at: morning).first)
        let error = SealingError.locked(schema: "notifier_sealing", key: key.key)
        #expect(throws: error) { try store(.random(count: 32)).refresh(over: connection, at: morning) }
        // The same secret serves another service in another way.
        #expect(throws: error) { try store(nil, .identity).refresh(over: connection, at: morning) }
        #expect(!error.isRetriable)
        #expect(error.description.contains("notifier_sealing.sealing_keys"))
        #expect(try ids() == [key.key])
    }

    @Test(arguments: [
        "wrapped = wrapped || '\\x00'", "wrapped = overlay(wrapped placing '\\x00' from 30)", "id = 'x'",
        "public_key = sha256('')",
    ])
    func `a row that was changed is refused`(change: String) throws {
        _ = try store().refresh(over: connection, at: morning)
        try connection.query("UPDATE notifier_sealing.sealing_keys SET \(unsafe: change)")
        #expect { try store().refresh(over: connection, at: morning) } throws: {
            if case .locked? = $0 as? SealingError { true } else { false }
        }
    }

    @Test func `without the database nothing is said to exist`() throws {
        let store = store()
        connection.close()
        #expect { try store.refresh(over: connection, at: morning) } throws: {
            if case .database? = $0 as? SealingError { true } else { false }
        }
        #expect(store.keyIDs.isEmpty)
    }

    private func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
        guard bytes.count >= part.count else { return false }
        return (0...(bytes.count - part.count)).contains { bytes[$0] == part[0] && Array(bytes[$0..<($0 + part.count)]) == part }
    }
}
