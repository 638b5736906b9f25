import Crypto
import EventLog
import EventSchema
import JSON
import Postgres
import TestSupport
import Testing

@testable import IdentityService

extension ServiceTests {
    /// What operators do, through a running Identity.
    @Suite struct OperatorTests {
        private let scene: IdentityScene
        private let gateway: CheckGateway

        init() throws {
            scene = try IdentityScene()
            gateway = try CheckGateway(scene)
        }

        private var access: OperatorAccess {
            OperatorAccess(
                log: scene.log, authenticator: scene.authenticator, routing: scene.routing,
                keys: DataKeyStore(secret: CheckScene.secret), database: IdentityScene.configuration(of: scene.database))
        }

        private var users: UserOperations { UserOperations(access) }

        private func importing(_ lines: [String], patience: Interval = .seconds(30)) throws -> UserImport.Summary {
            var rest = lines[...]
            return try UserImport(access, patience: patience).run(next: { rest.popFirst().map { Array($0.utf8) } })
        }

        private static let hash = "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"

        private func line(_ email: String, _ more: String = "") -> String {
            #"{"email":"\#(email)","passwordHash":"\#(Self.hash)"\#(more)}"#
        }

        private func logIn(_ email: String, _ password: String) async throws -> IdentityScene.Told {
            let subject = scene.routing.subject(kind: .email, canonical: email)
            return try await gateway.ask(
                CheckLogin(subject: subject, password: gateway.seal(password, SealingContext.password(subject: subject))),
                at: subject.routingKey)
        }

        @Test func `users of another system sign in with the password they had, and get a better hash`() async throws {
            let instance = scene.start()
            let runner = try gateway.start()
            let summary = try importing([
                line(
                    "ada@example.com", #","groups":["admin"],"profile":{"displayName":"Ada"},"createdAt":"2020-01-02T03:04:05Z""#),
                "not JSON", "", line("Bob@Example.com"), line("carol"), line("bob@example.com"),
            ])
            #expect(summary.imported == 2)
            #expect(summary.existing == 1)
            #expect(summary.faults.map(\.line) == [2, 5])
            #expect(summary.faults.map(\.reason) == ["is no JSON object", "has no valid email"])

            let first = try await logIn("ada@example.com", "U*U")
            #expect(first.outcome == .ok)
            #expect(first.secrets["profile"] == ["displayName": "Ada"])
            #expect(first.data?["user"]?["groups"] == ["admin"])
            #expect(first.data?["user"]?["createdAt"] == "2020-01-02T03:04:05.000Z")
            #expect(try await logIn("ada@example.com", "U*U*").outcome == .invalidCredentials)
            #expect(try await logIn("ada@example.com", "U*U").outcome == .ok)
            // The hash is another one now, and the credential still the same.
            let key = DataKeyStore(secret: CheckScene.secret)
            let rows = try scene.query(
                """
                SELECT data_key, wrapped, password_hash, credential_version FROM identity.users
                JOIN identity_keys.data_keys AS key ON key.id = data_key WHERE groups = '{admin}'
                """
            ).decode(PostgresUUID.self, [UInt8].self, [UInt8].self, Int64.self)
            let row = try #require(rows.first)
            let id = try #require(DataKeyID(bytes: row.0.bytes))
            let hash = try #require(Ciphertext(bytes: row.2))
            let text = key.unwrap(row.1, as: id)?.text(hash, .passwordHash)
            #expect(text?.hasPrefix("$argon2id$v=19$m=64,t=1,p=1$") == true)
            #expect(row.3 == 0)
            // The key of the line that was there already is destroyed.
            #expect(
                try scene.query("SELECT reason FROM identity_keys.data_keys WHERE wrapped IS NULL").column(String.self) == [
                    "unused"
                ])
            runner.stop()
            instance.stop()
        }

        @Test func `the same file again changes nothing`() async throws {
            let instance = scene.start()
            let lines = (0..<300).map { line("user\($0)@example.com") }
            #expect(try importing(lines).imported == 300)
            let again = try importing(lines)
            #expect(again.imported == 0 && again.existing == 300 && again.faults.isEmpty)
            #expect(try scene.query("SELECT FROM identity.users").count == 300)
            instance.stop()
        }

        @Test func `without a running Identity no line is said to be imported`() throws {
            let summary = try importing([line("ada@example.com")], patience: .milliseconds(300))
            #expect(summary.imported == 0)
            #expect(summary.faults.map(\.line) == [1])
        }

        @Test func `a user is shown, shut out, let in, and put into groups`() async throws {
            let instance = scene.start()
            let runner = try gateway.start()
            _ = try importing([line("ada@example.com", #","emailVerifiedAt":"2020-01-02T03:04:05Z""#)])
            let login = try await logIn("ada@example.com", "U*U")
            let id = try #require(login.data?["user"]?["id"]?.string)

            let shown = try #require(try users.show(" ADA@example.com"))
            #expect(shown == (try users.show(id)))
            #expect(shown.contains(id) && shown.contains("enabled") && shown.contains("2020-01-02T03:04:05.000Z"))
            #expect(!shown.contains("ada@"))

            #expect(try users.change(id, .disable) == .done)
            #expect(try users.show(id)?.contains("disabled") == true)
            #expect(try await logIn("ada@example.com", "U*U").outcome == .invalidCredentials)
            #expect(try users.change(id, .disable) == .done)
            #expect(try users.change("ada@example.com", .enable) == .done)
            #expect(try await logIn("ada@example.com", "U*U").outcome == .ok)

            #expect(try users.change(id, .groups(["testing", "admin"])) == .done)
            #expect(try await logIn("ada@example.com", "U*U").data?["user"]?["groups"] == ["admin", "testing"])
            #expect(try users.change(id, .groups(["a b"])) == .invalidGroup)
            #expect(try users.change(id, .groups([])) == .done)
            runner.stop()
            instance.stop()
        }

        @Test func `nobody is no user`() throws {
            #expect(try users.show("nobody@example.com") == nil)
            #expect(try users.show("not an address") == nil)
            #expect(
                try users.change(scene.routing.userID(for: RoutingKey(bytes: [1, 2, 3, 4, 5, 6])!).text, .disable) == .unknownUser
            )
        }
    }
}
