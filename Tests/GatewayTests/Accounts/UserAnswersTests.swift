import Crypto
import EventSchema
import HTTP
import JSON
import Postgres
import Synchronization
import TestSupport
import Testing

@testable import GatewayService

/// Versions as a test sets them.
final class FakeVersions: UserVersions {
    private struct State {
        var versions: [UserID: UserVersion] = [:]
        var isAway = false
        var asked = 0
    }

    private let state = Mutex(State())

    func set(_ version: UserVersion?, of user: UserID) { state.withLock { $0.versions[user] = version } }
    func goAway() { state.withLock { $0.isAway = true } }
    var asked: Int { state.withLock { $0.asked } }

    func version(of user: UserID) async throws -> UserVersion? {
        try state.withLock { state in
            state.asked += 1
            if state.isAway { throw PostgresError(.unavailable, "away") }
            return state.versions[user]
        }
    }
}

extension Routing {
    /// Another one each time.
    fileprivate func user() -> UserID { userID(for: subject(kind: .email, canonical: "user@example.com").routingKey) }
}

@Suite struct `What a user was told` {
    private let routing = Routing(secret: Secret(Array(repeating: 7, count: 32)))
    private let answers = UserAnswers(FakeVersions(), limit: 3)
    private let user: UserID
    private let first = UserVersion(rest: [1])
    private let now = ContinuousClock.now

    init() { user = routing.user() }

    @Test func `is told again as long as the user is of the same version, and no other user`() {
        answers.keep(.text("it"), to: user, as: first, at: now)
        for _ in 0..<2 { #expect(answers.answer(to: user, as: first, at: now) == .text("it")) }
        #expect(answers.answer(to: routing.user(), as: first, at: now) == nil)
    }

    @Test(arguments: [UserVersion(rest: [2]), UserVersion(groups: ["admin"], rest: [1]), nil])
    func `is forgotten for good with another version, or none`(version: UserVersion?) {
        answers.keep(.text("it"), to: user, as: first, at: now)
        #expect(answers.answer(to: user, as: version, at: now) == nil)
        #expect(answers.answer(to: user, as: first, at: now) == nil)
        #expect(answers.count == 0)
    }

    @Test func `is forgotten after a minute, asked for or not`() {
        answers.keep(.text("it"), to: user, as: first, at: now)
        let later = now + UserAnswers.lifetime
        #expect(answers.answer(to: user, as: first, at: later - .milliseconds(1)) != nil)
        #expect(answers.answer(to: user, as: first, at: later) == nil)
        #expect(answers.answer(to: user, as: first, at: now) == nil)

        answers.keep(.text("it"), to: user, as: first, at: now)
        answers.keep(.text("other"), to: routing.user(), as: first, at: now + .seconds(1))
        answers.sweep(at: later - .milliseconds(1))
        #expect(answers.count == 2)
        answers.sweep(at: later)
        #expect(answers.count == 1)
        answers.sweep(at: later + .seconds(1))
        #expect(answers.count == 0)
    }

    @Test func `goes when there is too much, the oldest first`() {
        let users = (0..<5).map { _ in routing.user() }
        for user in users { answers.keep(.text("it"), to: user, as: first, at: now) }
        #expect(users.map { answers.answer(to: $0, as: first, at: now) != nil } == [false, false, true, true, true])
    }
}

@Suite struct `The answer to a user who asks again` {
    private let gateway = TestGateway()
    private let caller: Caller

    init() {
        caller = gateway.user()
        gateway.versions.set(UserVersion(rest: [1]), of: caller.user)
        tell("Zoe")
    }

    private var asked: Int { gateway.path.commands.count { $0.message is ReadUser } }

    private func tell(_ name: String, groups: [String] = []) {
        gateway.path.answer { _ in
            var data = TestGateway.signedIn.data?.object ?? [:]
            var user = data["user"]?.object ?? [:]
            user["groups"] = .array(groups.map { .string($0) })
            data["user"] = .object(user)
            data["profile"] = ["displayName": .string(name)]
            return Reply(outcome: .ok, data: .object(data))
        }
    }

    private func name() async -> String? {
        let response = await gateway.send(.get, "/auth/me", as: caller)
        #expect(response.headers["Cache-Control"] == "no-store")
        return response.json?["data"]?["user"]?["profile"]?["displayName"]?.string
    }

    @Test func `comes from memory until the version is another`() async {
        for _ in 0..<3 { #expect(await name() == "Zoe") }
        #expect(asked == 1)
        tell("Ann")
        #expect(await name() == "Zoe")
        gateway.versions.set(UserVersion(rest: [2]), of: caller.user)
        for _ in 0..<3 { #expect(await name() == "Ann") }
        #expect(asked == 2)
        #expect(gateway.versions.asked == 7)
    }

    @Test func `is not remembered with a version of before`() async {
        // The profile changes after the version was asked for.
        gateway.path.answer { [gateway, caller] _ in
            gateway.versions.set(UserVersion(rest: [2]), of: caller.user)
            return TestGateway.signedIn
        }
        #expect(await name() == "Zoe")
        tell("Ann")
        #expect(await name() == "Ann")
    }

    @Test func `is not remembered where the groups were others meanwhile`() async {
        tell("Zoe", groups: ["admin"])
        #expect(await name() == "Zoe")
        tell("Zoe")
        for _ in 0..<2 { #expect(await name() == "Zoe") }
        #expect(asked == 2)
        gateway.versions.set(UserVersion(groups: ["admin"], rest: [1]), of: caller.user)
        tell("Zoe", groups: ["admin"])
        for _ in 0..<2 { #expect(await name() == "Zoe") }
        #expect(asked == 3)
    }

    @Test func `goes the long way while the version cannot be told, and is an error where that is one`() async {
        gateway.versions.goAway()
        for _ in 0..<2 { #expect(await name() == "Zoe") }
        #expect(asked == 2)
        #expect(gateway.users.count == 0)
        gateway.path.answer(.unauthenticated)
        #expect(await gateway.send(.get, "/auth/me", as: caller).status == .unauthorized)
    }

    @Test func `is no error that was one before`() async {
        gateway.path.answer(.unauthenticated)
        #expect(await gateway.send(.get, "/auth/me", as: caller).status == .unauthorized)
        tell("Zoe")
        #expect(await name() == "Zoe")
    }

    @Test func `is forgotten with the user`() async {
        #expect(await name() == "Zoe")
        gateway.versions.set(nil, of: caller.user)
        gateway.path.answer(.unauthenticated)
        #expect(await gateway.send(.get, "/auth/me", as: caller).status == .unauthorized)
        #expect(gateway.users.count == 0)
    }

    @Test func `is not remembered where the session ended meanwhile`() async {
        gateway.path.answer { [gateway, caller] _ in
            gateway.revocations.end(caller.session)
            return TestGateway.signedIn
        }
        #expect(await name() == "Zoe")
        #expect(gateway.users.count == 0)
    }
}

@Suite struct `Versions of users in Postgres` {
    private static let table = """
        CREATE SCHEMA IF NOT EXISTS identity;
        CREATE TABLE IF NOT EXISTS identity.user_versions_for_gateway (
            user_id uuid, groups text[], profile_version bigint, subject bytea, attached_at timestamptz, verified_at timestamptz)
        """

    private func add(_ user: UserID, _ version: Int64, _ subject: [UInt8]?, to pool: PostgresPool) async throws {
        try await pool.query(
            """
            INSERT INTO identity.user_versions_for_gateway
            VALUES (\(PostgresUUID(user.bytes)), ARRAY['a', 'b'], \(version), \(subject), to_timestamp(1), NULL)
            """)
    }

    @Test func `are asked for together, and differ where anything does`() async throws {
        let postgres = try await TestPostgres.shared
        let pool = postgres.anotherPool()
        try await pool.withConnection { try $0.script(Self.table) }
        let versions = PostgresUserVersions(pool)
        let routing = Routing(secret: Secret(Array(repeating: 7, count: 32)))
        let users = (0..<20).map { _ in routing.user() }
        // The same of all, in two rows each, in either order; the last one has one of them alone.
        for (index, user) in users.enumerated() {
            for subject in index % 2 == 0 ? [UInt8(1), 2] : [2, 1] where user != users[19] || subject == 1 {
                try await add(user, 7, [subject], to: pool)
            }
        }
        let found = try await withThrowingTaskGroup(of: (UserID, UserVersion?).self) { group in
            for user in users + users + [routing.user()] { group.addTask { (user, try await versions.version(of: user)) } }
            return try await group.reduce(into: [UserID: UserVersion]()) { $0[$1.0] = $1.1 }
        }
        #expect(Set(found.keys) == Set(users))
        #expect(Set(users.dropLast().compactMap { found[$0] }).count == 1)
        #expect(found[users[19]] != found[users[0]])
        #expect(found[users[0]]?.groups == ["a", "b"])

        for change in [
            "profile_version = 8", "groups = '{}'", "verified_at = now()", "attached_at = now()", "subject = NULL",
        ] {
            let before = try await versions.version(of: users[0])
            try await pool.query(
                """
                UPDATE identity.user_versions_for_gateway SET \(unsafe: change)
                WHERE user_id = \(PostgresUUID(users[0].bytes)) AND subject = '\\x01'
                """)
            #expect(try await versions.version(of: users[0]) != before, "\(change)")
        }
        await pool.close()
    }
}
