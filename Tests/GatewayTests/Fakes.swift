import Crypto
import EventSchema
import HTTP
import JSON
import Runtime
import Synchronization
import Testing

@testable import GatewayService

/// A command path that answers as it is told and keeps what it was asked.
final class FakePath: CommandPath {
    private struct State {
        var asked: [OutgoingCommand] = []
        var answer: @Sendable (OutgoingCommand) async throws -> Reply = { _ in Reply(outcome: .ok, data: ["expiresIn": 300]) }
    }

    private let state = Mutex(State())

    /// The answer to every command from now on.
    func answer(_ answer: @escaping @Sendable (OutgoingCommand) async throws -> Reply) { state.withLock { $0.answer = answer } }
    func answer(_ outcome: Reply.Outcome) {
        answer { _ in Reply(outcome: outcome, data: outcome == .ok ? ["expiresIn": 300] : nil) }
    }

    var commands: [OutgoingCommand] { state.withLock { $0.asked } }
    var issued: [IssueCode] { commands.compactMap { $0.message as? IssueCode } }
    var confirmed: [EventSchema.ConfirmCode] { commands.compactMap { $0.message as? EventSchema.ConfirmCode } }

    func reply(to command: OutgoingCommand) async throws -> Reply {
        command.identity.willSend()
        let answer = state.withLock { state in
            state.asked.append(command)
            return state.answer
        }
        let reply = try await answer(command)
        if reply.outcome != .ok { command.identity.wasRefused() }
        return reply
    }
}

/// How long answers would be held back; nobody waits for it.
final class Pauses: Sendable {
    private let state = Mutex<[Duration]>([])
    var all: [Duration] { state.withLock { $0 } }
    func add(_ pause: Duration) { state.withLock { $0.append(pause) } }
}

/// What answers wait for.
final class Gate: Sendable {
    private let state = Mutex(false)
    var isOpen: Bool { state.withLock { $0 } }
    func open() { state.withLock { $0 = true } }
}

/// Services' sealing keys, and what opens what was sealed to them.
final class FakeKeys: RecipientKeys {
    private let missing: Set<ServiceName>
    private let opener = BoxOpener()
    private let recipients: [ServiceName: RecipientKey]

    init(without missing: Set<ServiceName> = []) {
        self.missing = missing
        var recipients: [ServiceName: RecipientKey] = [:]
        for service in ServiceName.allCases {
            let pair = KeyPair.random()
            recipients[service] = RecipientKey(id: "\(service.rawValue):1", publicKey: pair.publicKey)
            opener.insert(pair, id: "\(service.rawValue):1")
        }
        self.recipients = recipients
    }

    func current(_ service: ServiceName) -> RecipientKey? { missing.contains(service) ? nil : recipients[service] }

    func open(_ box: Box, _ context: [UInt8]) -> String? {
        opener.open(box, context: context).map { String(decoding: $0, as: UTF8.self) }
    }
}

/// Exact sliding windows in memory: the model that Postgres is compared with.
final class ModelQuotas: QuotaCounter {
    private let hits = Mutex<[[UInt8]: [Int64]]>([:])
    /// Milliseconds, moved by hand.
    let now = Mutex<Int64>(1_000_000)

    func take(_ quota: Quota, then next: Quota?) async throws -> (first: Admission, next: Admission?) {
        take(quota, then: next, at: now.withLock { $0 })
    }

    func take(_ quota: Quota, then next: Quota?, at now: Int64) -> (first: Admission, next: Admission?) {
        let first = take(quota, at: now)
        return (first, first == .admitted ? next.map { take($0, at: now) } : nil)
    }

    func take(_ quota: Quota, at now: Int64) -> Admission {
        let span = Int64(quota.rate.window.milliseconds)
        return hits.withLock { hits in
            let live = (hits[quota.key] ?? []).filter { $0 > now - span }.sorted()
            guard live.count >= quota.rate.count else {
                hits[quota.key] = quota.counts ? live + [now] : live
                return .admitted
            }
            hits[quota.key] = live
            return .refused(wait: .milliseconds(live[live.count - quota.rate.count] + span - now))
        }
    }

    var count: Int { hits.withLock { $0.values.reduce(0) { $0 + $1.count } } }
}

/// Keeps answers in memory: as Postgres would, without its clock.
final class ModelAnswers: AnswerStore {
    private struct Row {
        var body: [UInt8]
        var nonce: [UInt8]
        var isHeld: Bool
        var answer: [UInt8]?
    }

    private let rows = Mutex<[[UInt8]: Row]>([:])

    func claim(_ names: [RequestName], lease: Duration) async throws -> Claim {
        rows.withLock { rows in
            let name = names.first { rows[$0.scope] != nil } ?? names[0]
            let (scope, body) = (name.scope, name.body)
            if let row = rows[scope] {
                if row.body != body { return .otherBody }
                if let answer = row.answer { return .answered(answer, scope: scope) }
                if row.isHeld { return .held }
            }
            let known = rows[scope]
            let nonce = known?.nonce ?? Random.bytes(16)
            rows[scope] = Row(body: body, nonce: nonce, isHeld: true, answer: nil)
            return .mine(Hold(scope: scope, nonce: nonce, holder: [1], isFirst: known == nil, remaining: .seconds(3_600)))
        }
    }

    func keep(_ answer: [UInt8], for hold: Hold) async throws -> [UInt8] {
        rows.withLock { rows in
            let kept = rows[hold.scope]?.answer ?? answer
            rows[hold.scope]?.answer = kept
            return kept
        }
    }

    func release(_ hold: Hold, _ trace: Trace) async throws {
        rows.withLock { rows in
            rows[hold.scope]?.isHeld = false
            switch trace {
            case .nothing: rows[hold.scope] = nil
            case .refusals: rows[hold.scope]?.nonce = Random.bytes(16)
            case .commands: break
            }
        }
    }
}

/// The accounts of a few subjects.
final class FakeAccounts: AccountDirectory {
    private struct State {
        var accounts: [Subject: AccountReference] = [:]
        var asked: [Subject] = []
    }

    private let state = Mutex(State())

    func add(_ account: AccountReference, for subject: Subject) { state.withLock { $0.accounts[subject] = account } }
    var asked: [Subject] { state.withLock { $0.asked } }

    func account(of subject: Subject) async throws -> AccountReference? {
        state.withLock { state in
            state.asked.append(subject)
            return state.accounts[subject]
        }
    }
}

/// A gateway in memory: real routes, everything behind them faked.
struct TestGateway {
    let path = FakePath()
    let keys: FakeKeys
    let quotas = ModelQuotas()
    let accounts = FakeAccounts()
    let devices = FakeDevices()
    let revocations = FakeRevocations()
    let versions = FakeVersions()
    let users: UserAnswers
    let tokens = FakeTokens()
    let metrics = Metrics()
    let pauses = Pauses()
    let logs = LogRecorder()
    let routing = Routing(secret: Secret(Array(repeating: 7, count: 32)))
    let api: GatewayAPI
    let application: HTTPApplication
    let client: InMemoryClient

    init(
        channels: VerificationChannels = VerificationChannels(), rates: [Limit: Rate] = [:], keys: FakeKeys = FakeKeys(),
        proxies: [AddressBlock] = [], cors: CORSPolicy? = nil, deadline: Duration = .seconds(60), inFlightLimit: Int = 1_024,
        answers: any AnswerStore = ModelAnswers(), counter: (any QuotaCounter)? = nil, peer: IPAddress = .loopbackV4,
        accounts directory: (any AccountDirectory)? = nil, commands: (any CommandPath)? = nil,
        secret: Secret = Secret(Array(repeating: 9, count: 32)), accepted: [Secret] = [], proofRequired: Bool = false
    ) {
        self.keys = keys
        users = UserAnswers(versions)
        var api = GatewayAPI(
            routing: routing, secret: secret, rates: rates, counter: counter ?? quotas, answers: answers,
            accounts: directory ?? accounts, devices: devices, tokenKeys: tokens.keys, verifier: tokens.verifier(revocations),
            revocations: revocations, users: users, keys: keys, sealer: BoxSealer(), commands: commands ?? path,
            metrics: metrics)
        api.channels = channels
        api.proofRequired = proofRequired
        let pauses = pauses
        api.pause = { pauses.add($0) }
        api.acceptedSecrets = accepted
        // A machine that has other things to do is not one that has died.
        api.lease = .seconds(60)
        api.trustedProxies = proxies
        self.api = api
        var rules = HTTPApplication.Configuration()
        rules.deadline = deadline
        rules.inFlightLimit = inFlightLimit
        rules.cors = cors
        let observer = RequestObserver(
            logger: Logger(service: "gateway", level: .debug, sink: logs), metrics: metrics, trusting: proxies)
        application = HTTPApplication(
            router: api.router(), configuration: rules, failures: APIFailures(), observe: [observer.observe])
        client = InMemoryClient(application, peer: peer)
    }

    func send(_ json: String, headers: Headers = [:]) async -> ClientResponse {
        await client.send(.post("/api/verification/send", json: json, headers: headers))
    }

    func confirm(_ json: String, headers: Headers = [:]) async -> ClientResponse {
        await client.send(.post("/api/verification/confirm", json: json, headers: headers))
    }

    func subject(_ email: String) -> Subject { routing.subject(kind: .email, canonical: email) }

    static let send = #"{"channel":"email","identifier":"user@example.com","purpose":"email_verification"}"#
    static let reset = #"{"channel":"email","identifier":"user@example.com","purpose":"password_reset"}"#
    static let confirm = #"{"identifier":"user@example.com","code":"123456","purpose":"email_verification"}"#
}

extension Result where Failure == any Error {
    init(_ body: () async throws -> Success) async {
        do {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }
}

extension ClientResponse {
    var json: JSON? { try? JSON.parse(body) }
    var code: String? { json?["error"]?["code"]?.string }
    var message: String? { json?["error"]?["message"]?.string }
    /// The names of the wrong fields, in order.
    var fields: [String] { json?["error"]?["fields"]?.array?.compactMap { $0["path"]?.string } ?? [] }
}
