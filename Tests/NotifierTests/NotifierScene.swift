import Crypto
import EventLog
import EventLogSimulated
import EventSchema
import Foundation
import JSON
import LoopService
import NotifierDomain
import Postgres
import Projections
import Runtime
import Synchronization
import TestSupport

@testable import NotifierService

/// Notifiers over a log in memory, a real Postgres and an outbox.
final class NotifierScene: Sendable {
    typealias Store = PostgresProjectionStore<DeliveryTables>

    static let partitions = 4
    static let tables = ["notifier.sends", "notifier.outcomes"]

    let database: TestDatabase
    let folder: TemporaryFolder
    let clock = SettableClock()
    let log: SimulatedLog
    let authenticator: RecordAuthenticator
    let sealing = SealedCodes()
    let verification: EventRelay
    let identity: EventRelay
    private let producer: any LogProducer
    private let connection: Mutex<PostgresConnection>
    private let issuedCount = Atomic<Int>(0)

    init() throws {
        database = try Self.migratedDatabase()
        folder = try TemporaryFolder()
        authenticator = try EventRelay.authenticator()
        log = SimulatedLog(partitions: Self.partitions, now: { [clock] in clock.now })
        verification = try EventRelay(
            on: log, as: .verification, inbox: .verificationCommands, events: .verificationEvents, authenticator: authenticator)
        identity = try EventRelay(
            on: log, as: .identity, inbox: .identityCommands, events: .identityEvents, authenticator: authenticator)
        producer = try log.makeProducer(client: "operator")
        connection = Mutex(try database.connect())
    }

    static func migratedDatabase() throws -> TestDatabase {
        let database = try TestDatabase.create()
        try Preparation.apply(NotifierService.migrations(), configuration(of: database))
        return database
    }

    static func configuration(of database: TestDatabase) -> PostgresConnection.Configuration {
        PostgresConnection.Configuration(database.connectionString, applicationName: "test")
    }

    // MARK: Instances

    /// A notifier, without HTTP: loop, desk and providers.
    final class Instance: Sendable {
        let loop: RunningLoop<Store>
        let desk: DeliveryDesk
        let context: ServiceContext
        private let desks: Task<Void, any Error>
        private let stopDesk = ShutdownSignal()

        init(
            _ scene: NotifierScene, providers: [any Provider], route: [String]? = nil, schedule: RetrySchedule = RetrySchedule(),
            database: TestDatabase? = nil
        ) throws {
            let names = route ?? providers.map(\.name)
            let tables = DeliveryTables(
                domain: DeliveryPartition(routes: names.isEmpty ? [:] : [.email: Delivery.Route(names, schedule: schedule)]))
            let configuration = NotifierScene.configuration(of: database ?? scene.database)
            let context = ServiceContext(logger: .silent)
            self.context = context
            let desk = DeliveryDesk(
                tables: tables, database: configuration, providers: providers,
                composer: MessageComposer(opener: scene.sealing.opener, templates: try MessageTemplates()), context: context)
            self.desk = desk
            let loop = RunningLoop(
                log: scene.log, domain: tables.domain, settings: DeliveryPartition.settings, authenticator: scene.authenticator,
                store: Store(tables, connection: configuration), noticed: { desk.noticed($0) },
                happened: { desk.happened($0, isOwner: $1) })
            self.loop = loop
            desk.serve(
                DeliveryDesk.Loop(
                    writer: loop.writer, now: { loop.driver.now }, submit: { loop.driver.submit($0, partition: $1) }))
            desks = Task { [stopDesk] in
                try await ShutdownSignal.$current.withValue(stopDesk) { try await desk.run() }
            }
        }

        /// As a shutdown does it: the desk first, then the loop.
        func stop() async throws {
            stopDesk.request()
            try await desks.value
            loop.stop()
        }

        /// The loop is gone at once; whatever a provider is busy with goes on, as in a process that was paused.
        func crash() { loop.stop() }
    }

    func console(_ output: Int32? = nil) throws -> ConsoleProvider {
        let silent = output ?? open("/dev/null", O_WRONLY)
        return ConsoleProvider(outbox: try Outbox(path: folder.file("outbox")), output: silent, logger: .silent)
    }

    func start(_ providers: [any Provider]? = nil, route: [String]? = nil, schedule: RetrySchedule = RetrySchedule()) throws
        -> Instance
    {
        try Instance(self, providers: try providers ?? [console()], route: route, schedule: schedule)
    }

    // MARK: What others do

    /// A code is issued to the address `code<number>@example.com`; its code is the number.
    func issue(_ number: Int, lifetime: Interval = .minutes(5), decoy: Bool = false) throws {
        let issued = try sealing.issued(
            number, recipient: "code\(number)@example.com", code: Self.code(number), expiresAt: clock.now + lifetime, decoy: decoy
        )
        verification.emit(issued, about: issued.subject)
    }

    static func code(_ number: Int) -> String { String(1_000_000 + number).suffix(6).description }

    static func address(_ request: UInt8) -> ReplyAddress {
        ReplyAddress(
            partition: 2, process: [UInt8](repeating: 5, count: 16), publicKey: [UInt8](repeating: 6, count: 32),
            request: [UInt8](repeating: request, count: 16))
    }

    /// An operator asks for another attempt.
    @discardableResult
    func retry(_ send: MessageID, of number: Int, id: MessageID = .random(), request: UInt8 = 1) -> MessageID {
        let encoded = SchemaCodec.current.encode(RetryDelivery(send: send))
        let key = SealedCodes.subject(number).routingKey
        let headers = [
            Header(HeaderName.id, id.text), Header(HeaderName.type, encoded.type), Header(HeaderName.budget, "10000"),
            Header(HeaderName.remember, "3600000"), Header(HeaderName.replyTo, Self.address(request).encoded),
        ]
        let record = OutgoingRecord(
            partition: TopicPartition(.notifierCommands, key.partition(among: Self.partitions)), key: key.bytes, headers: headers,
            value: encoded.data)
        producer.append(authenticator.sealed(record)) { _ in }
        return id
    }

    // MARK: What is seen

    /// Codes in the outbox, in its order.
    func delivered() throws -> [String] {
        try folder.lines("outbox").compactMap { try? JSON.parse(Array($0.utf8))["code"]?.string }
    }

    func sends() throws -> [(id: MessageID, status: String, reason: String?, attempt: Int)] {
        try query("SELECT id, status, reason, attempt::int8 FROM notifier.sends ORDER BY requested_at, id")
            .decode(PostgresUUID.self, String.self, String?.self, Int.self)
            .map { (MessageID(bytes: $0.bytes)!, $1, $2, $3) }
    }

    /// Events of the Notifier by type, as anybody reads them.
    func events() -> [String] {
        (0..<Self.partitions).flatMap { log.records(of: TopicPartition(.notifierEvents, $0)) }.compactMap { record in
            record.header(HeaderName.type).map { String(decoding: $0, as: UTF8.self).split(separator: ".")[2].description }
        }
    }

    func count(_ type: String) -> Int { events().count { $0 == type } }

    /// What a request was told, each answer once: a new owner may repeat what the one before it has told.
    func replies(to request: UInt8 = 1) -> [String] {
        let address = Array(Self.address(request).encoded.utf8)
        var told: [String] = []
        for partition in 0..<Self.partitions {
            for record in log.records(of: TopicPartition(.replies, partition)) where record.header(HeaderName.replyTo) == address
            {
                let outcome = (try? JSON.parse(record.value))?["outcome"]?.string ?? ""
                if !told.contains(outcome) { told.append(outcome) }
            }
        }
        return told
    }

    @discardableResult
    func query(_ sql: SQL) throws -> PostgresRows { try connection.withLock { try $0.query(sql) } }

    func dump(of database: TestDatabase? = nil) throws -> [String: [String]] {
        if let database { return try TableDump.rows(of: Self.tables, over: database.connect()) }
        return try connection.withLock { try TableDump.rows(of: Self.tables, over: $0) }
    }
}

/// Lets a provider stop in the middle of its work, as a process does that crashes or is paused.
final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    private let reached = Atomic<Int>(0)

    var count: Int { reached.load(ordering: .acquiring) }

    /// Blocks until the gate is opened.
    func wait() {
        reached.add(1, ordering: .releasing)
        semaphore.wait()
        semaphore.signal()
    }

    func open() { semaphore.signal() }
}
