import Crypto
import EventLog
import EventLogSimulated
import EventSchema
import Foundation
import IdentityDomain
import JSON
import Postgres
import Runtime
import Sealing
import TestSupport
import Testing

@testable import IdentityService

extension ServiceTests {
    /// The keys come back out of a backup, but nobody's who was erased since.
    @Suite struct KeyBackupTests {
        private let scene: IdentityScene
        private let store = DataKeyStore(secret: CheckScene.secret)
        private let alice = IdentityScene.subject(1)
        private let bert = IdentityScene.subject(2)
        private let path = NSTemporaryDirectory() + "latchkey-backup-" + UUID().uuidString

        init() throws {
            scene = try IdentityScene()
            try SigningKeyTable(secret: CheckScene.secret).prepare(.es256, over: scene.database.connect())
        }

        private var backup: KeyBackup {
            KeyBackup(
                log: scene.log, authenticator: scene.authenticator, database: IdentityScene.configuration(of: scene.database))
        }

        private func register(_ subject: Subject) async throws -> (account: AccountReference, session: SessionID, key: DataKeyID)
        {
            let key = DataKeyID(of: .random())
            _ = try store.make([key], over: scene.database.connect())
            let told = try await scene.ask(
                Register(subject: subject, channel: .email, data: .example(key: key)), at: subject.routingKey)
            let user = try #require(told.data?["user"]?["id"]?.string.flatMap { UserID($0) })
            let token = try #require(told.secret("refreshToken").flatMap { ReferenceToken($0, kind: .refresh) })
            let session = try #require(scene.routing.open(token).flatMap { SessionID(bytes: $0.reference) })
            return (AccountReference(user: user, credentialVersion: 0), session, key)
        }

        private func erase(_ account: AccountReference, _ session: SessionID, of subject: Subject) async throws {
            let erased = try await scene.ask(
                EraseUser(account: account, session: session, verdict: .right), at: subject.routingKey)
            #expect(erased.outcome == .ok)
        }

        /// What can be opened in the key store now.
        private func opened() throws -> Set<DataKeyID> {
            let rows = try scene.query("SELECT id, wrapped FROM identity_keys.data_keys WHERE wrapped IS NOT NULL")
                .decode(PostgresUUID.self, [UInt8].self)
            return Set(
                rows.compactMap { id, wrapped in DataKeyID(bytes: id.bytes).flatMap { store.unwrap(wrapped, as: $0)?.id } })
        }

        private func held() throws -> Int { try scene.query("SELECT FROM identity_restored.data_keys").count }

        private func loseTheKeys() throws {
            try scene.query("TRUNCATE identity_keys.data_keys")
        }

        @Test func `of those in the backup the ones come back that somebody still has`() async throws {
            let instance = scene.start()
            let (a, b) = (try await register(alice), try await register(bert))
            #expect(try backup.write(to: path) == 2)
            defer { unlink(path) }
            try await erase(b.account, b.session, of: bert)
            #expect(try opened() == [a.key])
            try loseTheKeys()
            #expect(try backup.restore(from: path) == KeyBackup.Restored(read: 2, outcome: (1, 1)))
            #expect(try opened() == [a.key])
            #expect(try held() == 0)
            // Once more, over keys that are there.
            #expect(try backup.restore(from: path) == KeyBackup.Restored(read: 2, outcome: (0, 1)))
            #expect(try opened() == [a.key])
            instance.stop()
        }

        @Test func `before everything is projected none of them opens, and who was erased meanwhile never does`() async throws {
            let first = scene.start()
            let (a, b) = (try await register(alice), try await register(bert))
            try backup.write(to: path)
            defer { unlink(path) }
            first.stop()
            // Everything but the log and the backup is lost, and the erasure is in the log alone.
            let elsewhere = try IdentityScene.migratedDatabase()
            let other = scene.start(in: elsewhere)
            try await erase(b.account, b.session, of: bert)
            other.stop()
            try loseTheKeys()

            #expect(try backup.restore(from: path) == KeyBackup.Restored(read: 2, outcome: nil))
            #expect(try opened().isEmpty)
            #expect(try held() == 2)
            let keys = UnusedKeys(
                log: scene.log, database: IdentityScene.configuration(of: scene.database),
                logger: Logger(service: "identity", sink: LogRecorder()))
            let run = Task { try await keys.run() }
            let again = scene.start()
            #expect(try await waitUntil { try held() == 0 })
            #expect(try opened() == [a.key])
            run.cancel()
            _ = try await run.value
            again.stop()
        }

        @Test func `signing keys come back as they were where there are none, and to check tokens with where there are`()
            async throws
        {
            let table = SigningKeyTable(secret: CheckScene.secret)
            let connection = try scene.database.connect()
            let signs = try #require(try table.current(over: connection)).kid
            try backup.write(to: path)
            defer { unlink(path) }
            try scene.query("TRUNCATE identity_keys.signing_keys")
            _ = try backup.restore(from: path)
            #expect(try table.current(over: connection)?.kid == signs)

            try scene.query("TRUNCATE identity_keys.signing_keys")
            try table.prepare(.es256, over: connection)
            let new = try #require(try table.current(over: connection)).kid
            _ = try backup.restore(from: path)
            #expect(try table.current(over: connection)?.kid == new)
            #expect(try table.rows(over: connection).first { $0.kid == signs }?.state == "retired")
        }

        @Test func `a signing key that was retired or revoked since the backup stays so, also where there is none`() async throws
        {
            let table = SigningKeyTable(secret: CheckScene.secret)
            let connection = try scene.database.connect()
            _ = try table.rotate(.es256, over: connection)
            try backup.write(to: path)
            defer { unlink(path) }
            let rows = try table.rows(over: connection)
            func kid(_ state: String) throws -> String { try #require(rows.first { $0.state == state }?.kid) }
            let (retired, current, next) = (try kid("retired"), try kid("current"), try kid("next"))
            // The key that signed is retired, the next one is taken away, and so is one that signed long before.
            _ = try table.rotate(.es256, over: connection)
            try table.revoke(kid: next, .es256, over: connection)
            try table.revoke(kid: retired, .es256, over: connection)
            let directory = try KeyDirectory.read(from: scene.log, by: scene.authenticator, within: .seconds(60))
            let untold = try #require(try RetiredSigningKeys(directory: directory).settle(table, over: connection))
            let producer = try scene.log.makeProducer(client: "test")
            for key in untold {
                try producer.append(KeyRecord.telling(key, by: scene.authenticator), within: .seconds(60))
            }
            producer.close()

            try scene.query("TRUNCATE identity_keys.signing_keys")
            _ = try backup.restore(from: path)
            let states = try Dictionary(uniqueKeysWithValues: table.rows(over: connection).map { ($0.kid, $0.state) })
            #expect(states == [retired: "revoked", current: "retired", next: "revoked"])
            #expect(try scene.query("SELECT kid FROM identity_keys.signing_keys_for_gateway").column(String.self) == [current])
            #expect(try table.current(over: connection) == nil)
            try table.prepare(.es256, over: connection)
            let signs = try #require(try table.current(over: connection)).kid
            #expect(states[signs] == nil)
        }

        @Test func `keys that an Identity makes while a backup is read are the ones that sign`() async throws {
            let table = SigningKeyTable(secret: CheckScene.secret)
            let connection = try scene.database.connect()
            let old = try #require(try table.current(over: connection)).kid
            try backup.write(to: path)
            defer { unlink(path) }
            try scene.query("TRUNCATE identity_keys.signing_keys")
            try table.prepare(.es256, over: connection)
            let new = try #require(try table.current(over: connection)).kid
            try scene.query("CREATE TABLE made AS SELECT * FROM identity_keys.signing_keys")
            try scene.query("TRUNCATE identity_keys.signing_keys")

            let (backup, path) = (backup, path)
            try connection.execute("BEGIN")
            try SigningKeyTable.lock(over: connection)
            let restoring = Task.detached { try await BlockingPool.runOnce(name: "restore") { try backup.restore(from: path) } }
            #expect(
                try await waitUntil {
                    try !scene.query(
                        """
                        SELECT FROM pg_locks JOIN pg_database AS own ON own.oid = database
                        WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted
                        """
                    ).isEmpty
                })
            try connection.execute("INSERT INTO identity_keys.signing_keys SELECT * FROM made")
            try connection.execute("COMMIT")
            _ = try await restoring.value
            #expect(try table.current(over: connection)?.kid == new)
            let states = try Dictionary(uniqueKeysWithValues: table.rows(over: connection).map { ($0.kid, $0.state) })
            #expect(states.values.sorted() == ["current", "next", "retired", "retired"])
            #expect(states[old] == "retired")
        }

        @Test func `the file is private and names nothing, and half a file, another log's or none is refused`() async throws {
            let instance = scene.start()
            _ = try await register(alice)
            try backup.write(to: path)
            defer { unlink(path) }
            instance.stop()
            var status = stat()
            #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
            var lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
            lines.removeLast()
            let half = path + ".half"
            defer { unlink(half) }
            try lines.joined(separator: "\n").write(toFile: half, atomically: false, encoding: .utf8)
            #expect(throws: KeyBackup.Failure.self) { try backup.restore(from: half) }
            try (["{}"] + lines.dropFirst()).joined(separator: "\n").write(toFile: half, atomically: false, encoding: .utf8)
            #expect(throws: KeyBackup.Failure.self) { try backup.restore(from: half) }
            let other = #"{"format":"latchkey identity keys 1","log":"AAAA"}"#
            try ([other[...]] + lines.dropFirst()).joined(separator: "\n").write(toFile: half, atomically: false, encoding: .utf8)
            #expect(throws: KeyBackup.Failure.self) { try backup.restore(from: half) }
            #expect(try held() == 0)
        }
    }
}
