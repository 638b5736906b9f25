import Crypto
import EventSchema
import Postgres
import Sealing
import TestSupport
import Testing

@testable import IdentityService

extension ServiceTests {
    /// Identity's secret is replaced, over a real Postgres.
    @Suite struct KeyRewrappingTests {
        private let database: TestDatabase
        private let connection: PostgresConnection
        private let old = Secret([UInt8](repeating: 1, count: 32))
        private let new = Secret([UInt8](repeating: 2, count: 32))
        private let now = Timestamp(milliseconds: 1_800_000_000_000)

        init() throws {
            database = try TestDatabase.create()
            connection = try database.connect()
            try IdentityKeys.migrations().apply(over: connection)
            try SealingKeyStore.migrations(schema: "identity_sealing").apply(over: connection)
        }

        private func sealing(_ secret: Secret, accepted: [Secret] = []) -> SealingKeyStore {
            SealingKeyStore(
                service: .identity, schema: "identity_sealing", secret: secret, accepted: accepted, opener: BoxOpener())
        }

        private func rewrapping(_ secret: Secret, accepted: [Secret], step: Int = 2) -> KeyRewrapping {
            KeyRewrapping(
                keys: DataKeyStore(secret: secret, accepted: accepted),
                signing: SigningKeyTable(secret: secret, accepted: accepted), sealing: sealing(secret, accepted: accepted),
                audit: AuditKeyTable(secret: secret, accepted: accepted), database: IdentityScene.configuration(of: database),
                step: step)
        }

        private func wrapped() throws -> [DataKeyID: [UInt8]] {
            let rows = try connection.query("SELECT id, wrapped FROM identity_keys.data_keys WHERE wrapped IS NOT NULL")
                .decode(PostgresUUID.self, [UInt8].self)
            return Dictionary(
                uniqueKeysWithValues: try rows.map { (try #require(DataKeyID(bytes: $0.0.bytes)), $0.1) })
        }

        @Test func `every key opens under the new secret alone, and opened all the while`() throws {
            let before = DataKeyStore(secret: old)
            let ids = (0..<7).map { _ in DataKeyID(of: .random()) }
            let keys = try before.make(ids, over: connection)
            let signing = SigningKeyTable(secret: old)
            try signing.prepare(.es256, over: connection)
            let signs = try #require(try signing.current(over: connection)).kid
            let pairs = try sealing(old).refresh(over: connection, at: now)
            let proofs = try AuditKeyTable(secret: old).key(over: connection).publicKey

            // Every instance knows both before any wraps under the new one.
            let between = DataKeyStore(secret: old, accepted: [new])
            let ahead = DataKeyStore(secret: new, accepted: [old])
            let late = DataKeyID(of: .random())
            let made = try ahead.make([late], over: connection)
            #expect(try between.make([late], over: connection).count == made.count)
            _ = try connection.execute(before.destroying([ids[0]], for: .erased))

            var steps: [Int] = []
            let outcome = try rewrapping(new, accepted: [old]).run { done, _ in steps.append(done) }
            // Six data keys, two signing keys, one pair, and the key of proofs.
            #expect(outcome == KeyRewrapping.Outcome(anew: 10, locked: []))
            #expect(steps == [2, 4, 6, 7])
            let after = DataKeyStore(secret: new)
            let stored = try wrapped()
            #expect(stored.count == 7 && stored[ids[0]] == nil)
            for (id, bytes) in stored where id != late {
                let sealed = try #require(keys[id]).seal([7], as: .profile)
                #expect(after.unwrap(bytes, as: id)?.open(sealed, as: .profile) == [7])
                #expect(before.unwrap(bytes, as: id) == nil)
            }
            #expect(try SigningKeyTable(secret: new).current(over: connection)?.kid == signs)
            #expect(throws: SigningKeyTable.Failure.locked(kid: signs)) { try signing.current(over: connection) }
            #expect(try sealing(new).refresh(over: connection, at: now) == pairs)
            #expect(try AuditKeyTable(secret: new).key(over: connection).publicKey == proofs)
            #expect(throws: AuditKeyTable.Locked.self) { try AuditKeyTable(secret: old).key(over: connection) }
            #expect(throws: SealingError.self) { try sealing(old).refresh(over: connection, at: now) }

            #expect(try rewrapping(new, accepted: [old]).run { _, _ in } == KeyRewrapping.Outcome(anew: 0, locked: []))
        }

        @Test func `a key under a secret that nobody named is told, and stays as it is`() throws {
            let other = Secret([UInt8](repeating: 3, count: 32))
            let lost = DataKeyID(of: .random())
            _ = try DataKeyStore(secret: other).make([lost], over: connection)
            let known = (0..<3).map { _ in DataKeyID(of: .random()) }
            _ = try DataKeyStore(secret: old).make(known, over: connection)
            let before = try wrapped()
            let outcome = try rewrapping(new, accepted: [old]).run { _, _ in }
            #expect(outcome == KeyRewrapping.Outcome(anew: 3, locked: ["\(lost)"]))
            #expect(try wrapped()[lost] == before[lost])
            #expect(try rewrapping(new, accepted: [old, other]).run { _, _ in }.anew == 1)
        }
    }
}
