import Crypto
import EventLog
import EventLogSimulated
import EventSchema
import IdentityDomain
import IdentityService
import JSON
import LoopService
import Postgres
import Projections
import Synchronization
import TestSupport
import Testing

/// Identity's loop over a log in memory and a real Postgres.
final class IdentityScene: Sendable {
    typealias Store = PostgresProjectionStore<IdentityTables>
    typealias Instance = RunningLoop<Store>

    static let partitions = 4
    static let tables = [
        "users", "identifiers", "onboarding_sessions", "verified_contacts", "sessions", "ended_sessions", "devices",
        "login_failures", "sign_up_notices", "outcomes",
    ].map { "identity.\($0)" }

    let database: TestDatabase
    let clock = SettableClock()
    let log: SimulatedLog
    let authenticator: RecordAuthenticator
    let relay: EventRelay
    let routing = Routing(secret: Secret([UInt8](repeating: 9, count: 32)))
    /// What Identity's boxes are sealed to, and what opens them.
    let ownPair = KeyPair.random()
    let opener = BoxOpener()
    let sealer = BoxSealer()
    private let gateway = KeyPair.random()
    private let gatewayOpener = BoxOpener()
    private let producer: any LogProducer
    private let connection: Mutex<PostgresConnection>

    init() throws {
        database = try Self.migratedDatabase()
        authenticator = try EventRelay.authenticator()
        log = SimulatedLog(partitions: Self.partitions, now: { [clock] in clock.now })
        relay = try EventRelay(
            on: log, as: .verification, inbox: .verificationCommands, events: .verificationEvents, authenticator: authenticator)
        producer = try log.makeProducer(client: "gateway")
        connection = Mutex(try database.connect())
        opener.insert(ownPair, id: "identity:1")
        gatewayOpener.insert(gateway, id: ReplyAddress.recipientID)
    }

    static func migratedDatabase() throws -> TestDatabase {
        let database = try TestDatabase.create()
        try Preparation.apply(IdentityService.migrations(), configuration(of: database))
        return database
    }

    static func configuration(of database: TestDatabase) -> PostgresConnection.Configuration {
        PostgresConnection.Configuration(database.connectionString, applicationName: "test")
    }

    var ownKey: RecipientKey { RecipientKey(id: "identity:1", publicKey: ownPair.publicKey) }

    func partition() -> IdentityPartition {
        let ownKey = ownKey
        return IdentityPartition(
            routing: routing, minting: PlainTokens(), opener: opener, sealer: sealer, ownKey: { ownKey })
    }

    func store(in database: TestDatabase? = nil) -> Store {
        Store(IdentityTables(domain: partition()), connection: Self.configuration(of: database ?? self.database))
    }

    /// Starts an instance.
    func start(in database: TestDatabase? = nil) -> Instance {
        let store = store(in: database)
        return Instance(
            log: log, domain: store.tables.domain, settings: IdentityPartition.settings, authenticator: authenticator,
            store: store)
    }

    @discardableResult
    func query(_ sql: SQL) throws -> PostgresRows { try connection.withLock { try $0.query(sql) } }

    func dump() throws -> [String: [String]] {
        try connection.withLock { try TableDump.rows(of: Self.tables, over: $0) }
    }

    // MARK: What other parts do

    static func subject(_ number: Int) -> Subject { Subject(bytes: Array(SHA256.hash(Array("\(number)".utf8)).prefix(16)))! }

    static func partition(of subject: Subject) -> Int { subject.routingKey.partition(among: partitions) }

    func confirm(
        _ subject: Subject, purpose: Purpose = .emailVerification, replyTo: ReplyAddress? = nil
    ) {
        relay.emit(CodeConfirmed(subject: subject, purpose: purpose, channel: purpose.channel), about: subject, replyTo: replyTo)
    }

    /// A gateway that waits.
    var address: ReplyAddress {
        ReplyAddress(
            partition: 1, process: [UInt8](repeating: 5, count: 16), publicKey: gateway.publicKey,
            request: [UInt8](repeating: 8, count: 16))
    }

    /// Sends a command, which this gateway waits for. Without a budget it is decided however late it is.
    @discardableResult
    func send(_ message: some Message, at home: RoutingKey, budget: Interval? = .seconds(60), id: MessageID = .random())
        -> MessageID
    {
        let encoded = SchemaCodec.current.encode(message)
        let headers = [
            Header(HeaderName.id, id.text), Header(HeaderName.type, encoded.type),
            budget.map { Header(HeaderName.budget, String($0.milliseconds)) }
                ?? Header(HeaderName.deadline, String((clock.now + .seconds(60)).milliseconds)),
            Header(HeaderName.replyTo, address.encoded),
        ]
        let record = OutgoingRecord(
            partition: TopicPartition(.identityCommands, home.partition(among: Self.partitions)), key: home.bytes,
            headers: headers, value: encoded.data)
        producer.append(authenticator.sealed(record)) { _ in }
        return id
    }

    /// What a command was told, once it is.
    ///
    /// - Parameter count: how many answers to it there are before.
    func answer(to command: MessageID, after count: Int = 0) async throws -> Told {
        try #require(try await waitUntil { told(command, after: count) })
    }

    /// Sends and waits.
    func ask(_ message: some Message, at home: RoutingKey, budget: Interval? = .seconds(60)) async throws -> Told {
        try await answer(to: send(message, at: home, budget: budget))
    }

    /// A token sealed as gateways seal it.
    func seal(_ token: [UInt8]) throws -> Box {
        try sealer.seal(token, to: ownKey, context: SealingContext.token(digest: Digest(of: token)))
    }

    func complete(_ session: OnboardingSessionID, _ token: String, profileVersion: Int64 = 0) async throws -> Told {
        let bytes = Array(token.utf8)
        return try await ask(
            CompleteOnboarding(
                session: session, token: try seal(bytes), digest: Digest(of: bytes), proofRequired: false,
                profileVersion: profileVersion, client: .example(), person: .example()), at: routing.routingKey(of: session))
    }

    func refresh(_ text: String) async throws -> Told {
        let token = try #require(ReferenceToken(text, kind: .refresh))
        let (home, reference) = try #require(routing.open(token))
        let session = try #require(SessionID(bytes: reference))
        return try await ask(
            RefreshSession(session: session, token: try seal(token.bytes), digest: token.digest), at: home)
    }

    /// An answer, with the members of its boxes.
    struct Told: Sendable, Equatable {
        var outcome: Reply.Outcome
        var data: JSON?
        var secrets: JSONObject

        func secret(_ name: String) -> String? { secrets[name]?.string }
    }

    /// The answer to a command, the first or another one. Opens no other one: it is asked for again and again.
    private func told(_ command: MessageID, after count: Int = 0) -> Told? {
        let cause = Array(command.text.utf8)
        return answers.lazy.filter { $0.header(HeaderName.causation) == cause }.dropFirst(count).first
            .flatMap { told(by: $0, of: command) }
    }

    /// The first answer to each command.
    var told: [MessageID: Told] {
        var told: [MessageID: Told] = [:]
        for record in answers {
            guard let cause = record.header(HeaderName.causation).flatMap({ MessageID(String(decoding: $0, as: UTF8.self)) }),
                told[cause] == nil
            else { continue }
            told[cause] = self.told(by: record, of: cause)
        }
        return told
    }

    private var answers: [Record] { (0..<Self.partitions).flatMap { log.records(of: TopicPartition(.replies, $0)) } }

    private func told(by record: Record, of cause: MessageID) -> Told? {
        guard let reply = try? SchemaCodec.current.decode(Reply.self, type: "latchkey.reply.v1", data: record.value) else {
            return nil
        }
        var secrets: JSONObject = [:]
        for box in reply.boxes ?? [] {
            guard let bytes = gatewayOpener.open(box, context: SealingContext.reply(to: cause)),
                let members = (try? JSON.parse(bytes))?.object
            else { continue }
            for (name, value) in members { secrets[name] = value }
        }
        return Told(outcome: reply.outcome, data: reply.data, secrets: secrets)
    }

    /// The homes as all events that an instance has seen say.
    func fold(_ instance: Instance) -> [RoutingKey: Home.State] {
        let domain = partition()
        var homes: [RoutingKey: Home.State] = [:]
        for confirmed in instance.happened {
            guard let event = confirmed.event else { continue }
            domain.evolve(&homes[domain.key(of: event), default: Home.initial], with: event, at: confirmed.envelope.time)
        }
        return homes
    }

    /// Outcomes of the replies sent so far, with what they answer.
    var replies: [(cause: String, outcome: String)] {
        answers.map { record in
            let cause = record.header(HeaderName.causation).map { String(decoding: $0, as: UTF8.self) } ?? ""
            return (cause, (try? JSON.parse(record.value))?["outcome"]?.string ?? "")
        }
    }
}

/// Tokens that say what they are.
struct PlainTokens: TokenMinting {
    let accessLifetime = Interval.minutes(15)

    func accessToken(_ claims: AccessClaims) -> String {
        "access \(claims.user) \(claims.session) \(claims.groups.joined(separator: ","))"
    }

    func onboardingToken(_ session: OnboardingSessionID, issuedAt: Timestamp, expiresAt: Timestamp) -> String {
        "onboarding \(session) \((expiresAt - issuedAt).milliseconds)"
    }
}
