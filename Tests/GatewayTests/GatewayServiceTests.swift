import Crypto
import EventLog
import EventLogPostgres
import EventSchema
import HTTP
import JSON
import LoopService
import Postgres
import Runtime
import Sealing
import TestSupport
import Testing

@testable import GatewayService

/// Whole gateways over a Postgres of their own, reached over HTTP; only the services behind the log are played.
private struct Stage {
    let server: TestServer
    let log: PostgresLog
    let owner: TestOwner
    let authenticator: RecordAuthenticator
    private let environment: Environment

    /// Making and starting servers blocks.
    static let thread = BlockingPool(name: "stage", threads: 1)

    static func set() async throws -> Stage {
        try await thread.run {
            let server = try TestServer()
            let connection = try PostgresConnection(.init(server.connectionString, applicationName: "stage"))
            try connection.script(
                """
                CREATE SCHEMA identity;
                CREATE TABLE identity.accounts_for_gateway (
                    subject bytea, user_id uuid, credential_version bigint, disabled boolean);
                CREATE TABLE identity.devices_for_gateway (digest bytea, user_id uuid);
                CREATE TABLE identity.sessions_for_gateway (session_id uuid, user_id uuid);
                CREATE TABLE identity.revocations_for_gateway (
                    session_id uuid, user_id uuid, partition integer, ended_at timestamptz);
                CREATE TABLE identity.checkpoints_for_gateway (partition integer, position text);
                CREATE TABLE identity.user_versions_for_gateway (
                    user_id uuid, groups text[], profile_version bigint, subject bytea, attached_at timestamptz,
                    verified_at timestamptz);
                CREATE SCHEMA identity_keys;
                CREATE TABLE identity_keys.signing_keys_for_gateway (
                    kid text, algorithm text, state text, public_jwk jsonb)
                """)
            try PostgresLog.provision(PostgresLog.Configuration(server.connectionString), partitions: 3)
            return try Stage(server)
        }
    }

    private init(_ server: TestServer) throws {
        self.server = server
        let secret = Hex.encode(Array(repeating: 1, count: 32))
        environment = [
            "LATCHKEY_DATABASE_URL": server.connectionString, "LATCHKEY_LOG_MAC_KEYS": "1:\(secret)", "GATEWAY_SECRET": secret,
            "LATCHKEY_ROUTING_SECRET": secret, "LATCHKEY_PARTITIONS": "3", "LATCHKEY_PORT": "0", "LIMIT_SEND": "off",
            "LIMIT_CONFIRM": "off", "LIMIT_DAILY_SENDS": "off",
        ]
        log = PostgresLog(PostgresLog.Configuration(server.connectionString))
        let configuration = try GatewayConfiguration.load(from: environment).configuration
        authenticator = try RecordAuthenticator(configuration.common.macKeys)
        owner = try TestOwner(log, authenticator)
    }

    /// Starts a gateway and waits until it is ready.
    func gateway() async throws -> StagedGateway {
        let configuration = try GatewayConfiguration.load(from: environment).configuration
        let context = ServiceContext(logger: .silent)
        let service = try GatewayService(configuration, context, log: log)
        let (stop, requestStop) = AsyncStream.makeStream(of: Void.self)
        let lifecycle = ServiceLifecycle(service.components, logger: context.logger, readiness: context.readiness)
        let run = Task { await lifecycle.run(stop: stop) }
        while service.server.port == nil { await Task.yield() }
        let gateway = StagedGateway(client: SocketClient(port: service.server.port ?? 0), run: run, requestStop: requestStop)
        try await gateway.untilReady()
        return gateway
    }

    /// Calls `body` while the owner works.
    func playing(_ body: () async throws -> Void) async throws {
        let play = Task { try await owner.run() }
        let result = await Result { try await body() }
        play.cancel()
        _ = await play.result
        try result.get()
    }
}

private struct StagedGateway {
    let client: SocketClient
    let run: Task<Int32, Never>
    let requestStop: AsyncStream<Void>.Continuation

    func untilReady() async throws {
        while try await client.send(.get("/readyz")).status != .ok { try await Task.sleep(for: .milliseconds(10)) }
    }

    func send() async throws -> ClientResponse {
        try await client.send(.post("/api/verification/send", json: TestGateway.send))
    }

    func confirm(key: String? = nil) async throws -> ClientResponse {
        var headers: Headers = [:]
        if let key { headers["Idempotency-Key"] = key }
        return try await client.send(.post("/api/verification/confirm", json: TestGateway.confirm, headers: headers))
    }

    /// Asks it to stop; its exit status.
    func stop() async -> Int32 {
        requestStop.yield()
        return await run.value
    }

    /// Ends it without letting it finish anything.
    func kill() async {
        requestStop.yield()
        requestStop.yield()
        _ = await run.value
    }
}

@Suite(.serialized) struct `A whole gateway` {
    @Test func `goes by the log for keys that were taken away, whatever Postgres says`() async throws {
        let stage = try await Stage.set()
        let (good, bad) = (SigningKey.random(.es256).publicKey, SigningKey.random(.es256).publicKey)
        try await Stage.thread.run {
            let connection = try PostgresConnection(.init(stage.server.connectionString, applicationName: "stage"))
            for key in [good, bad] {
                let jwk = JSON.object(key.jwk(keyID: key.thumbprint)).serialized()
                try connection.execute(
                    """
                    INSERT INTO identity_keys.signing_keys_for_gateway
                    VALUES (\(key.thumbprint), 'ES256', 'retired', \(PostgresJSON(jwk)))
                    """)
            }
            let producer = try stage.log.makeProducer(client: "identity")
            for key in [good, bad] {
                let told = SigningKeyRetired(
                    key: key.thumbprint, retiredAt: Timestamp(milliseconds: 1_800_000_000_000), isRevoked: key == bad)
                try producer.append(KeyRecord.telling(told, by: stage.authenticator), within: .seconds(60))
            }
            producer.close()
        }
        try await stage.playing {
            let gateway = try await stage.gateway()
            let published = try await gateway.client.send(.get("/.well-known/jwks.json"))
            #expect(published.status == .ok)
            #expect(published.text.contains(good.thumbprint))
            #expect(!published.text.contains(bad.thumbprint))
            #expect(await gateway.stop() == 0)
        }
    }

    @Test func `serves beside another one, and stops when it has answered`() async throws {
        let stage = try await Stage.set()
        try await stage.playing {
            let gateways = [try await stage.gateway(), try await stage.gateway()]
            for gateway in gateways {
                #expect(try await gateway.send().text == #"{"success":true,"data":{"expiresIn":300}}"#)
                let metrics = try await gateway.client.send(.get("/metrics"))
                #expect(metrics.text.contains(#"latchkey_gateway_replies_total{met="waiting"} 1"#))
                #expect(try await gateway.client.send(.get("/healthz")).status == .ok)
            }
            #expect(stage.owner.seen.count == 2)

            stage.owner.hold()
            async let last = gateways[0].send()
            while stage.owner.seen.count < 3 { await Task.yield() }
            async let status = gateways[0].stop()
            // Stopping waits for the request, the request for its answer.
            stage.owner.release()
            #expect(try await last.status == .ok)
            #expect(await status == 0)
            #expect(await gateways[1].stop() == 0)
        }
    }

    @Test func `that dies leaves its request to another one`() async throws {
        let stage = try await Stage.set()
        try await stage.playing {
            let gateways = [try await stage.gateway(), try await stage.gateway()]
            stage.owner.hold()
            let lost = Task { try? await gateways[0].confirm(key: "k") }
            while stage.owner.seen.isEmpty { await Task.yield() }
            await gateways[0].kill()
            stage.owner.release()

            #expect(try await gateways[1].confirm(key: "k").text == #"{"success":true}"#)
            #expect(Set(stage.owner.seen).count == 1)
            #expect(stage.owner.seen.count == 2)
            #expect(try await gateways[1].confirm(key: "k").text == #"{"success":true}"#)
            #expect(stage.owner.seen.count == 2)
            #expect(try await gateways[1].confirm().code == "INVALID_OTP")
            #expect(await gateways[1].stop() == 0)
            lost.cancel()
        }
    }

    @Test func `answers at once while Postgres is away, and is back by itself`() async throws {
        let stage = try await Stage.set()
        try await stage.playing {
            let gateway = try await stage.gateway()
            #expect(try await gateway.send().status == .ok)
            try await Stage.thread.run { stage.server.kill() }
            for _ in 0..<20 {
                let start = ContinuousClock.now
                let response = try await gateway.send()
                #expect(response.status == .serviceUnavailable)
                #expect(response.headers["Retry-After"] != nil)
                #expect(ContinuousClock.now - start < .seconds(2))
            }
            #expect(try await gateway.client.send(.get("/readyz")).status == .serviceUnavailable)
            #expect(try await gateway.client.send(.get("/healthz")).status == .ok)
            let before = stage.owner.seen.count
            try await Stage.thread.run { try stage.server.start() }
            try await gateway.untilReady()
            while try await gateway.send().status != .ok { try await Task.sleep(for: .milliseconds(10)) }
            #expect(stage.owner.seen.count > before)
            #expect(await gateway.stop() == 0)
        }
    }

    @Test func `answers soon while Postgres hangs, and is back by itself`() async throws {
        let stage = try await Stage.set()
        try await stage.playing {
            let gateway = try await stage.gateway()
            try await Stage.thread.run { stage.server.freeze() }
            // Before their deadlines, which would end them with a time-out.
            let statuses = await withTaskGroup(of: HTTPStatus?.self) { group in
                for _ in 0..<50 { group.addTask { try? await gateway.send().status } }
                return await group.reduce(into: [HTTPStatus?]()) { $0.append($1) }
            }
            try await Stage.thread.run { stage.server.thaw() }
            #expect(statuses.allSatisfy { $0 == .serviceUnavailable }, "\(Set(statuses.map { $0?.description ?? "none" }))")
            try await gateway.untilReady()
            while try await gateway.send().status != .ok { try await Task.sleep(for: .milliseconds(10)) }
            #expect(await gateway.stop() == 0)
        }
    }
}
