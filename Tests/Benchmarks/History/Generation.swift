internal import EventLog
internal import EventSchema
internal import IdentityService
internal import LogBackends
internal import LoopService
internal import Postgres
internal import Runtime

/// Appends the events of made-up people, in valid chains, with data keys that open what is in them.
struct Generation: Sendable {
    private let log: any EventLog
    private let authenticator: RecordAuthenticator
    private let routing: Routing
    private let keys: DataKeyStore
    private let database: PostgresConnection.Configuration

    /// So many records of a thread are on their way at once.
    private static let inFlight = 4_000

    init(_ configuration: IdentityConfiguration) throws {
        log = ConfiguredLog.make(configuration.common)
        authenticator = try RecordAuthenticator(configuration.common.macKeys)
        routing = Routing(secret: configuration.routingSecret)
        keys = DataKeyStore(secret: configuration.secret)
        database = IdentityService.database(configuration.common)
    }

    func run(_ count: Int) throws {
        let description = try log.describe()
        let partitions = description.partitions
        try onTwoThreads(partitions) { number in
            let own = count / partitions + (number < count % partitions ? 1 : 0)
            let partition = TopicPartition(.identityEvents, number)
            var chain = try ChainWriter(
                partition, after: .genesis(of: partition, in: description.id), authenticator: authenticator, writer: "history")
            var lives = MadeUpLives(
                seed: UInt64(number + 1), partition: number, of: partitions, routing: routing,
                keys: try KeySupply(keys, database))
            let producer = try log.makeProducer(client: "history")
            defer { producer.close() }
            var flights = Flights(limit: Self.inFlight)
            let codec = SchemaCodec.current
            for _ in 0..<own {
                let (event, home, subject, time) = try lives.next()
                let encoded = codec.encode(event)
                let record = chain.append(
                    EventBody(type: encoded.type, subject: subject, data: encoded.data), id: .random(), key: home.bytes, at: time,
                    inboxes: InboxPositions(), causation: .random())
                producer.append(record, completion: try flights.begin())
            }
            try flights.landAll()
        }
    }
}
