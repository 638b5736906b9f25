import Crypto
import EventLog
import EventLogSimulated
import EventSchema
import Foundation
import JSON
import LoopService
import Postgres
import Runtime
import TestSupport
import Testing

@testable import IdentityService

extension ServiceTests {
    /// What auditors see of a running Identity.
    @Suite struct AuditTests {
        private let scene: IdentityScene
        private let gateway: CheckGateway

        init() throws {
            scene = try IdentityScene()
            gateway = try CheckGateway(scene)
        }

        private func access(_ database: PostgresConnection.Configuration? = nil, secret: Secret = CheckScene.secret)
            -> OperatorAccess
        {
            OperatorAccess(
                log: scene.log, authenticator: scene.authenticator, routing: scene.routing, keys: DataKeyStore(secret: secret),
                database: database ?? IdentityScene.configuration(of: scene.database))
        }

        private static let hash = "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"

        private func add(_ emails: String...) throws {
            var lines = emails.map { email in
                #"{"email":"\#(email)","passwordHash":"\#(Self.hash)","profile":{"displayName":"Ada Lovelace"}}"#
            }[...]
            #expect(try UserImport(access()).run(next: { lines.popFirst().map { Array($0.utf8) } }).imported == emails.count)
        }

        private func logIn(_ email: String, _ password: String = "U*U") async throws -> IdentityScene.Told {
            let subject = scene.routing.subject(kind: .email, canonical: email)
            return try await gateway.ask(
                CheckLogin(subject: subject, password: gateway.seal(password, SealingContext.password(subject: subject))),
                at: subject.routingKey)
        }

        private func id(_ email: String) async throws -> String {
            try #require(try await logIn(email).data?["user"]?["id"]?.string)
        }

        private func erase(_ email: String) async throws {
            let user = try #require(UserID(try await id(email)))
            let sessions = try scene.query("SELECT id FROM identity.sessions WHERE user_id = \(PostgresUUID(user.bytes))")
            let session = try #require(try sessions.column(PostgresUUID.self).first.flatMap { SessionID(bytes: $0.bytes) })
            let answer = try await scene.ask(
                EraseUser(account: AccountReference(user: user, credentialVersion: 0), session: session, verdict: .right),
                at: scene.routing.routingKey(of: user))
            #expect(answer.outcome == .ok)
        }

        /// Runs a command line and gives what it writes.
        private func audit(_ line: String, _ access: OperatorAccess? = nil) throws -> (status: Int32, text: String) {
            let wanted = try AuditArguments(line.split(separator: " ").map(String.init), now: scene.clock.now)
            let operations = AuditOperations(
                access ?? self.access(), auditKey: AuditKeyTable(secret: CheckScene.secret))
            let path = NSTemporaryDirectory() + UUID().uuidString
            defer { try? FileManager.default.removeItem(atPath: path) }
            #expect(FileManager.default.createFile(atPath: path, contents: nil))
            let file = try #require(FileHandle(forWritingAtPath: path))
            let status = try operations.run(wanted, StopFlag(), output: TextOutput(file.fileDescriptor))
            return (status, try String(contentsOfFile: path, encoding: .utf8))
        }

        private func events(_ line: String, _ access: OperatorAccess? = nil) throws -> [JSON] {
            let (status, text) = try audit(line + " --format jsonl", access)
            #expect(status == 0)
            return try text.split(separator: "\n").map { try JSON.parse(String($0)) }
        }

        @Test func `a history holds what was done, in order, and nothing of others`() async throws {
            let instance = scene.start()
            let runner = try gateway.start()
            try add("ada@example.com", "bob@example.com")
            let ada = try await id("ada@example.com")
            _ = try await logIn("ada@example.com", "wrong")
            _ = try await logIn("bob@example.com")
            let subject = scene.routing.subject(kind: .email, canonical: "ada@example.com")
            scene.confirm(subject)
            #expect(
                try await waitUntil {
                    try scene.query("SELECT FROM identity.identifiers WHERE verified_at IS NOT NULL").count == 1
                })

            let history = try events("user ada@example.com")
            #expect(
                history.map { $0["type"]?.string ?? "" } == [
                    "latchkey.identity.user-imported.v1", "latchkey.identity.session-started.v1",
                    "latchkey.identity.login-failed.v1", "latchkey.verification.code-confirmed.v1",
                    "latchkey.identity.contact-verified.v1",
                ])
            #expect(try events("user \(ada)") == history)
            #expect(try events("user \(ada) --type login-failed,code-confirmed").count == 2)
            #expect(try events("log").count == 7)
            #expect(try events("log --type session-started").count == 2)
            // Personal data is masked unless it is asked for, and the hash is never shown.
            #expect(history[0]["person"]?["identifier"] == "a***@***.com")
            let revealed = try events("user \(ada) --reveal")[0]["person"]
            #expect(revealed?["identifier"] == "ada@example.com")
            #expect(revealed?["profile"]?["displayName"] == "Ada Lovelace")
            #expect(revealed?["passwordHash"] == "***")
            // All else works without keys.
            let locked = try events("user \(ada)", access(secret: Secret([UInt8](repeating: 2, count: 32))))
            #expect(locked.count == history.count)
            #expect(locked[0]["person"]?["unreadable"]?.string?.contains("IDENTITY_SECRET") == true)
            let away = PostgresConnection.Configuration("host=/nowhere user=nobody", applicationName: "test")
            #expect(try events("user \(ada)", access(away)).map { $0["id"] } == history.map { $0["id"] })
            // Nobody knows others.
            #expect(try audit("user nobody@example.com").status == 1)
            #expect(try audit("user nonsense").status == 2)
            runner.stop()
            instance.stop()
        }

        @Test func `a time range begins and ends where it says`() async throws {
            let instance = scene.start()
            let runner = try gateway.start()
            try add("ada@example.com")
            for _ in 0..<20 {
                scene.clock.advance(by: .minutes(20))
                _ = try await logIn("ada@example.com", "wrong")
            }
            let all = try events("log")
            #expect(all.count == 21)
            let times = all.compactMap { $0["appended"]?.string }
            #expect(times == times.sorted())
            for index in [0, 5, 20] {
                #expect(try events("log --since \(times[index])") == Array(all[index...]))
                #expect(try events("log --until \(times[index])") == Array(all[..<index]))
            }
            #expect(try events("log --since \(times[3]) --until \(times[9])") == Array(all[3..<9]))
            #expect(try events("user ada@example.com --since 70m").count == 4)
            runner.stop()
            instance.stop()
        }

        @Test func `an erasure is shown, and nothing of the person can be read`() async throws {
            let instance = scene.start()
            let runner = try gateway.start()
            try add("ada@example.com", "bob@example.com")
            let ada = try await id("ada@example.com")
            #expect(try audit("erased \(ada)").status == 1)
            try await erase("ada@example.com")
            let (status, text) = try audit("erased \(ada)")
            #expect(status == 0, "\(text)")
            #expect(text.contains("destroyed") && text.contains("reason") == false && !text.contains("NO "))
            let history = try events("user \(ada) --reveal")
            #expect(history.last?["type"] == "latchkey.identity.user-erased.v1")
            #expect(history.allSatisfy { !"\($0)".contains("ada@") && !"\($0)".contains("Lovelace") })
            #expect(history[0]["person"]?["unreadable"]?.string?.contains("erased") == true)
            // The address is somebody else's now, whose history is another.
            try add("ada@example.com")
            let other = try await id("ada@example.com")
            #expect(other != ada)
            #expect(try events("user \(ada)").allSatisfy { $0["user"]?.string != other })
            #expect(try events("user \(other)").allSatisfy { $0["user"]?.string != ada })
            #expect(try events("user ada@example.com").contains { $0["user"]?.string == ada })
            #expect(try audit("erased \(ada)").status == 0)
            // A key that came back is found.
            try scene.query(
                "UPDATE identity_keys.data_keys SET wrapped = '\\x00', destroyed_at = NULL, reason = NULL WHERE reason = 'erased'"
            )
            #expect(try audit("erased \(ada)").status == 1)
            runner.stop()
            instance.stop()
        }

        @Test func `proofs of two days are compared`() async throws {
            let instance = scene.start()
            let runner = try gateway.start()
            try add("ada@example.com")
            let path = NSTemporaryDirectory() + "latchkey-proof-" + UUID().uuidString
            defer { try? FileManager.default.removeItem(atPath: path) }
            #expect(try audit("prove --output \(path)").status == 0)
            #expect(try audit("prove --since \(path)").status == 0)
            let key = try audit("key").text.trimmingCharacters(in: .newlines)
            #expect(try audit("key").text == key + "\n")
            #expect(try audit("prove --since \(path) --key \(key)").status == 0)
            #expect(try audit("prove --since \(path) --key \(Base64URL.encode(Random.bytes(32)))").status == 1)
            _ = try await logIn("ada@example.com")
            let (status, text) = try audit("prove --since \(path) --without-keys")
            #expect(status == 0 && text.contains("intact: 2 events"))
            runner.stop()
            instance.stop()
            // What was proven is taken away; the projection knows, too.
            let subject = scene.routing.subject(kind: .email, canonical: "ada@example.com")
            let place = TopicPartition(.identityEvents, subject.routingKey.partition(among: IdentityScene.partitions))
            scene.log.truncate(place, at: 0)
            let cut = try audit("prove --since \(path) --format jsonl")
            #expect(cut.status == 1 && cut.text.contains(#""kind":"cut""#))
            #expect(try audit("prove").status == 1)
            #expect(try audit("prove --output \(path).2").status == 1)
            #expect(!FileManager.default.fileExists(atPath: path + ".2"))
        }
    }
}
