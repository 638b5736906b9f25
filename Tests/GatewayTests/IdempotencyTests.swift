import Crypto
import EventSchema
import HTTP
import JSON
import Postgres
import Runtime
import Synchronization
import Testing

@testable import GatewayService

@Suite struct `A request with an Idempotency-Key` {
    /// Gateways over one database.
    private func gateways(
        _ count: Int = 1, rates: [Limit: Rate] = [:], deadline: Duration = .seconds(60), lifetime: Duration = .seconds(3_600)
    ) async throws -> [TestGateway] {
        let postgres = try await TestPostgres.shared
        return (0..<count).map { _ in
            TestGateway(
                rates: rates, deadline: deadline, answers: PostgresAnswers(postgres.anotherPool(), lifetime: lifetime))
        }
    }

    /// The key of one test.
    private let k = Hex.encode(Random.bytes(16))

    private func key(_ key: String, _ authorization: String? = nil) -> Headers {
        var headers: Headers = ["Idempotency-Key": key]
        if let authorization { headers["Authorization"] = authorization }
        return headers
    }

    @Test func `gets the first outcome again, at any gateway`() async throws {
        let gateways = try await gateways(2)
        gateways[0].path.answer(.invalidOTP)
        let first = await gateways[0].confirm(TestGateway.confirm, headers: key(k))
        let second = await gateways[0].confirm(TestGateway.confirm, headers: key(k))
        let third = await gateways[1].confirm(TestGateway.confirm, headers: key(k))
        #expect(first.code == "INVALID_OTP")
        for repeated in [second, third] {
            #expect(repeated.status == first.status && repeated.body == first.body)
            #expect(repeated.headers["Content-Type"] == "application/json")
            #expect(repeated.headers["X-Request-Id"] != first.headers["X-Request-Id"])
        }
        #expect(gateways[0].path.commands.count == 1)
        #expect(gateways[1].path.commands.isEmpty)
    }

    @Test func `gets it again while the gateways' secret is replaced, at gateways before and behind that step`() async throws {
        let postgres = try await TestPostgres.shared
        let (old, new) = (Secret(Array(repeating: 9, count: 32)), Secret(Array(repeating: 8, count: 32)))
        func gateway(_ secret: Secret, accepted: [Secret] = []) -> TestGateway {
            TestGateway(answers: PostgresAnswers(postgres.anotherPool()), secret: secret, accepted: accepted)
        }
        let (before, between) = (gateway(old), gateway(old, accepted: [new]))
        let (ahead, after) = (gateway(new, accepted: [old]), gateway(new))
        // Those that may run beside each other, or one after the other within the hour.
        let pairs = [
            (before, between), (between, before), (before, ahead), (between, ahead), (ahead, between), (ahead, after),
            (after, ahead),
        ]
        for (number, (first, second)) in pairs.enumerated() {
            first.path.answer(.invalidOTP)
            let answer = await first.confirm(TestGateway.confirm, headers: key("\(k)\(number)"))
            #expect(answer.code == "INVALID_OTP")
            let sent = second.path.commands.count
            let again = await second.confirm(TestGateway.confirm, headers: key("\(k)\(number)"))
            #expect(again.status == answer.status && again.body == answer.body)
            #expect(second.path.commands.count == sent)
        }
    }

    @Test func `at once leads to one command, too, while the gateways' secret is replaced`() async throws {
        let postgres = try await TestPostgres.shared
        let (old, new) = (Secret(Array(repeating: 9, count: 32)), Secret(Array(repeating: 8, count: 32)))
        func gateway(_ secret: Secret, accepted: [Secret] = []) -> TestGateway {
            TestGateway(answers: PostgresAnswers(postgres.anotherPool()), secret: secret, accepted: accepted)
        }
        // Those that run beside each other, step by step.
        let steps = [
            [gateway(old), gateway(old, accepted: [new])],
            [gateway(old, accepted: [new]), gateway(new, accepted: [old])],
            [gateway(new, accepted: [old]), gateway(new)],
        ]
        for (number, gateways) in steps.enumerated() {
            for round in 0..<20 {
                let headers = key("\(k)\(number)-\(round)")
                let before = gateways.flatMap { $0.path.commands }.count
                let answers = await withTaskGroup(of: ClientResponse.self) { group in
                    for index in 0..<4 {
                        group.addTask { await gateways[index % 2].confirm(TestGateway.confirm, headers: headers) }
                    }
                    return await group.reduce(into: [ClientResponse]()) { $0.append($1) }
                }
                #expect(answers.allSatisfy { $0.status == .ok })
                #expect(gateways.flatMap { $0.path.commands }.count == before + 1, "step \(number)")
            }
        }
    }

    @Test func `is another one under another key, path, authorization or without a key`() async throws {
        let gateways = try await gateways()
        for headers in [key(k), key(k + "l"), key(k, "Bearer a"), key(k, "Bearer b"), [:], [:]] {
            _ = await gateways[0].confirm(TestGateway.confirm, headers: headers)
        }
        #expect(gateways[0].path.commands.count == 6)
        let ids = Set(gateways[0].path.commands.map { $0.identity.id(of: .confirmCode) })
        #expect(ids.count == 6)
        #expect(await gateways[0].send(TestGateway.send, headers: key(k)).status == .ok)
    }

    @Test func `with another body is a conflict`() async throws {
        let gateways = try await gateways(2)
        _ = await gateways[0].confirm(TestGateway.confirm, headers: key(k))
        let response = await gateways[1].confirm(TestGateway.confirm + " ", headers: key(k))
        #expect(response.status == .unprocessableContent)
        #expect(response.code == "IDEMPOTENCY_CONFLICT")
        #expect(gateways[1].path.commands.isEmpty)
        // The conflict is not the request's answer.
        #expect(await gateways[1].confirm(TestGateway.confirm, headers: key(k)).status == .ok)
    }

    @Test func `waits for its twin, wherever that is`() async throws {
        let gateways = try await gateways(3)
        let (started, hold) = (AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream())
        gateways[0].path.answer { _ in
            started.continuation.yield()
            for await _ in hold.stream { break }
            return Reply(outcome: .invalidOTP)
        }
        async let first = gateways[0].confirm(TestGateway.confirm, headers: key(k))
        for await _ in started.stream { break }
        let others = Task { [gateways] in
            await withTaskGroup(of: ClientResponse.self) { group in
                for index in 0..<9 {
                    group.addTask { await gateways[index % 3].confirm(TestGateway.confirm, headers: key(k)) }
                }
                return await group.reduce(into: [ClientResponse]()) { $0.append($1) }
            }
        }
        hold.continuation.finish()
        let answers = await [first] + others.value
        #expect(Set(answers.map(\.body)).count == 1)
        #expect(answers[0].code == "INVALID_OTP")
        #expect(gateways.flatMap { $0.path.commands }.count == 1)
    }

    @Test func `fifty at once lead to one command`() async throws {
        let gateways = try await gateways(2)
        let answers = await withTaskGroup(of: ClientResponse.self) { group in
            for index in 0..<50 {
                group.addTask { await gateways[index % 2].send(TestGateway.send, headers: key(k)) }
            }
            return await group.reduce(into: [ClientResponse]()) { $0.append($1) }
        }
        #expect(answers.allSatisfy { $0.status == .ok })
        #expect(gateways.flatMap { $0.path.commands }.count == 1)
    }

    @Test func `that was refused by a limit is not kept`() async throws {
        let gateways = try await gateways(rates: [.send: Rate(1, per: .seconds(10))])
        _ = await gateways[0].send(TestGateway.send)
        #expect(await gateways[0].send(TestGateway.send, headers: key(k)).status == .tooManyRequests)
        gateways[0].quotas.now.withLock { $0 += 10_000 }
        // Another body may use the key: nothing was done under it.
        #expect(await gateways[0].send(TestGateway.send + " ", headers: key(k)).status == .ok)
    }

    @Test func `that is repeated does not count against a limit`() async throws {
        let gateways = try await gateways(rates: [.confirm: Rate(1, per: .seconds(10))])
        for _ in 0..<3 { #expect(await gateways[0].confirm(TestGateway.confirm, headers: key(k)).status == .ok) }
        #expect(await gateways[0].confirm(TestGateway.confirm).status == .tooManyRequests)
    }

    @Test func `that is wrong is kept as wrong`() async throws {
        let gateways = try await gateways()
        let first = await gateways[0].confirm("{}", headers: key(k))
        #expect(first.fields == ["identifier", "code", "purpose"])
        #expect(await gateways[0].confirm("{}", headers: key(k)).body == first.body)
        #expect(await gateways[0].confirm(TestGateway.confirm, headers: key(k)).status == .unprocessableContent)
        // What cannot be read never got that far.
        #expect(await gateways[0].confirm("{", headers: key(k + "l")).status == .badRequest)
        #expect(
            await gateways[0].confirm("{}", headers: ["Idempotency-Key": k + "m", "Content-Type": "text/plain"]).status
                == .unsupportedMediaType)
    }

    @Test func `whose outcome is unknown publishes the same command again`() async throws {
        let gateways = try await gateways(2)
        gateways[0].path.answer { _ in throw APIError.unavailable }
        #expect(await gateways[0].confirm(TestGateway.confirm, headers: key(k)).status == .serviceUnavailable)
        #expect(await gateways[1].confirm(TestGateway.confirm + " ", headers: key(k)).status == .unprocessableContent)
        #expect(await gateways[1].confirm(TestGateway.confirm, headers: key(k)).status == .ok)
        let (lost, found) = (gateways[0].path.commands[0].identity, gateways[1].path.commands[0].identity)
        #expect(lost.id(of: .confirmCode) == found.id(of: .confirmCode))
        #expect(lost.replyPair?.publicKey == found.replyPair?.publicKey)
        #expect(lost.replyPair?.privateKey == found.replyPair?.privateKey)
        let remember = try #require(found.remember)
        #expect(remember > .seconds(3_590) && remember <= .seconds(3_600))
    }

    @Test(arguments: [Reply.Outcome.rateLimited, .stale, .invalidCredentials])
    func `whose refusal is not kept is decided anew`(outcome: Reply.Outcome) async throws {
        let gateways = try await gateways(2)
        let form = #"{"email":"user@example.com","password":"Correct-Horse-7"}"#
        gateways[0].path.answer(outcome)
        #expect(await gateways[0].post("/auth/login", form, headers: key(k)).status.rawValue > 400)
        gateways[1].path.answer { _ in TestGateway.signedIn }
        // It is known all the same.
        #expect(await gateways[1].post("/auth/login", form + " ", headers: key(k)).status == .unprocessableContent)
        #expect(await gateways[1].post("/auth/login", form, headers: key(k)).status == .ok)
        let ids = gateways.map { $0.path.commands.map(\.id) }
        #expect(ids[1].count == 1 && !ids[0].contains(ids[1][0]))
    }

    @Test func `whose code was taken before it was refused stays the same`() async throws {
        let gateways = try await gateways(2)
        let form = #"{"email":"user@example.com","password":"Correct-Horse-7","code":"123456"}"#
        gateways[0].path.answer { command in
            Reply(outcome: command.message is EventSchema.ConfirmCode ? .ok : .stale, data: [:])
        }
        for gateway in gateways { _ = await gateway.post("/auth/register", form, headers: key(k)) }
        let ids = gateways.map { $0.path.commands.first?.id }
        #expect(ids[0] != nil && ids[0] == ids[1])
    }

    @Test(arguments: ["/auth/logout", "/auth/logout-all", "/auth/change-password"])
    func `publishes the same command again though the session of its sender has ended, by that command perhaps`(
        path: String
    ) async throws {
        let gateway = TestGateway()
        let caller = gateway.user()
        let token = gateway.tokens.access(caller)
        func ask() async -> ClientResponse {
            await gateway.post(
                path, #"{"currentPassword":"old","newPassword":"Correct-Horse-7"}"#, headers: key(k, "Bearer \(token)"))
        }
        gateway.path.answer { _ in throw APIError.unavailable }
        #expect(await ask().status == .serviceUnavailable)
        gateway.revocations.end(caller.session)
        gateway.path.answer { _ in Reply(outcome: .ok) }
        #expect(await ask().status == .ok)
        let commands = gateway.path.commands
        #expect(commands.count == 2 && Set(commands.map(\.id)).count == 1)
        // Under another key it is the first of its kind.
        #expect(await gateway.post(path, headers: key("new", "Bearer \(token)")).status == .unauthorized)
    }

    @Test func `stays the same request when it comes again in vain before it comes to an end`() async throws {
        let gateways = try await gateways(2, rates: [.confirm: Rate(1, per: .seconds(10))])
        gateways[0].path.answer { _ in throw APIError.unavailable }
        #expect(await gateways[0].confirm(TestGateway.confirm, headers: key(k)).status == .serviceUnavailable)
        // Nothing is sent this time, but something was.
        _ = await gateways[1].confirm("{}")
        #expect(await gateways[1].confirm(TestGateway.confirm, headers: key(k)).status == .tooManyRequests)
        gateways[1].quotas.now.withLock { $0 += 10_000 }
        #expect(await gateways[1].confirm(TestGateway.confirm, headers: key(k)).status == .ok)
        let ids = gateways.flatMap { $0.path.commands }.map { $0.identity.id(of: .confirmCode) }
        #expect(ids.count == 2 && Set(ids).count == 1)
    }

    @Test func `of a gateway that has died is taken over after its lease`() async throws {
        let postgres = try await TestPostgres.shared
        let store = PostgresAnswers(postgres.pool)
        let name = RequestName(scope: Random.bytes(32), body: Random.bytes(32))
        var other = name
        other.body = Random.bytes(32)
        guard case .mine(let dead) = try await store.claim([name], lease: .milliseconds(1)) else {
            Issue.record("the request was known")
            return
        }
        try await postgres.pool.query("SELECT pg_sleep(0.002)")
        guard case .mine(let heir) = try await store.claim([name], lease: .seconds(60)) else {
            Issue.record("the request was not taken over")
            return
        }
        #expect(heir.nonce == dead.nonce && heir.holder != dead.holder)
        #expect(try await store.claim([name], lease: .seconds(60)) == .held)
        #expect(try await store.claim([other], lease: .seconds(60)) == .otherBody)

        // The first one lives after all. It cannot end the work of the other; of two answers the first one counts.
        try await store.release(dead, .nothing)
        #expect(try await store.claim([name], lease: .seconds(60)) == .held)
        #expect(try await store.keep([1], for: heir) == [1])
        #expect(try await store.keep([2], for: dead) == [1])
        #expect(try await store.claim([name], lease: .seconds(60)) == .answered([1], scope: name.scope))
        try await store.release(heir, .nothing)
        #expect(try await store.claim([name], lease: .seconds(60)) == .answered([1], scope: name.scope))
    }

    @Test func `is not taken from a twin who was faster, though he looked at the clock later`() async throws {
        let postgres = try await TestPostgres.shared
        let store = PostgresAnswers(postgres.pool)
        let name = RequestName(scope: Random.bytes(32), body: Random.bytes(32))
        let slower = try await postgres.anotherPool().withTransaction { connection in
            try connection.query(
                """
                INSERT INTO gateway.idempotency (scope, body, nonce, holder, held_until, expires_at)
                VALUES (\(name.scope), \(name.body), \(Random.bytes(16)), \(Random.bytes(8)), now(), now() + interval '1 hour')
                """)
            let slower = Task { try await store.claim([name], lease: .seconds(60)) }
            while try connection.query(
                "SELECT FROM pg_locks WHERE NOT granted AND transactionid = pg_current_xact_id()::xid"
            ).isEmpty { try connection.query("SELECT pg_sleep(0.002)") }
            try connection.query(
                """
                UPDATE gateway.idempotency SET held_until = clock_timestamp() + interval '60 seconds'
                WHERE scope = \(name.scope)
                """)
            return slower
        }
        #expect(try await slower.value == .held)
    }

    @Test func `is new again after its hour`() async throws {
        let gateways = try await gateways(lifetime: .milliseconds(1))
        for body in [TestGateway.confirm, TestGateway.confirm, TestGateway.confirm + " "] {
            #expect(await gateways[0].confirm(body, headers: key(k)).status == .ok)
        }
        let ids = Set(gateways[0].path.commands.map { $0.identity.id(of: .confirmCode) })
        #expect(ids.count == 3)
    }

    @Test func `whose answer comes late gets it when it is repeated`() async throws {
        let gateways = try await gateways(2)
        for gateway in gateways { gateway.path.answer { _ in throw APIError.unavailable } }
        #expect(await gateways[0].confirm(TestGateway.confirm, headers: key(k)).status == .serviceUnavailable)
        let command = gateways[0].path.commands[0]
        command.identity.keepLate?(command.answer(Reply(outcome: .maxAttemptsExceeded)))
        var repeated: ClientResponse
        repeat {
            repeated = await gateways[1].confirm(TestGateway.confirm, headers: key(k))
        } while repeated.status == .serviceUnavailable
        #expect(repeated.code == "MAX_ATTEMPTS_EXCEEDED")
    }

    @Test func `has a key of 1 to 255 printable ASCII characters`() async throws {
        let gateway = TestGateway()
        for bad in ["", "ä", "a\u{7f}", String(repeating: "x", count: 256)] {
            let response = await gateway.send(TestGateway.send, headers: key(bad))
            #expect(response.status == .badRequest)
            #expect(response.fields == ["Idempotency-Key"])
        }
        var twice = key("a")
        twice.append("Idempotency-Key", "b")
        #expect(await gateway.send(TestGateway.send, headers: twice).status == .badRequest)
        #expect(gateway.path.commands.isEmpty)
        for good in ["~ !", String(repeating: "x", count: 255)] {
            #expect(await gateway.send(TestGateway.send, headers: key(good)).status == .ok)
        }
    }

    @Test func `leaves nothing readable in the database`() async throws {
        let gateways = try await gateways()
        gateways[0].path.answer(.invalidOTP)
        _ = await gateways[0].confirm(TestGateway.confirm, headers: key("the-key" + k, "Bearer the-token"))
        let postgres = try await TestPostgres.shared
        let dump = try await postgres.pool.query(
            "SELECT encode(scope || body || nonce || coalesce(answer, ''), 'escape') FROM gateway.idempotency"
        )
        .column(String.self).joined()
        #expect(!dump.isEmpty)
        for secret in ["the-key", "the-token", "INVALID_OTP", "user@example.com", "123456"] { #expect(!dump.contains(secret)) }
    }

    @Test func `is deleted when it is over, and not before`() async throws {
        let postgres = try await TestPostgres.shared
        let (short, long) = (PostgresAnswers(postgres.pool, lifetime: .milliseconds(1)), PostgresAnswers(postgres.pool))
        let scopes = (0..<8).map { _ in Random.bytes(32) }
        for scope in scopes.prefix(5) { _ = try await short.claim([RequestName(scope: scope, body: [1])], lease: .seconds(1)) }
        for scope in scopes.suffix(3) { _ = try await long.claim([RequestName(scope: scope, body: [1])], lease: .seconds(1)) }
        try await postgres.pool.query("SELECT pg_sleep(0.002)")
        let housekeeping = Housekeeping(
            postgres.pool, users: UserAnswers(FakeVersions()), step: 2, logger: .silent, metrics: Metrics())
        try await housekeeping.sweep()
        let left = try await postgres.pool.query("SELECT scope FROM gateway.idempotency WHERE scope = ANY(\(scopes))")
        #expect(try Set(left.column([UInt8].self)) == Set(scopes.suffix(3)))
    }
}
