public import EventLog
public import EventSchema
public import IdentityDomain
public import Postgres
public import Projections

/// Identity's projection: the tables of `Migrations`.
public struct IdentityTables: ProjectionTables {
    public let domain: IdentityPartition
    public let schema: String
    /// Where the data keys are, which some events destroy.
    let keySchema: String
    private let homes: HomeRows

    public init(domain: IdentityPartition, schema: String = "identity", keySchema: String = "identity_keys") {
        self.domain = domain
        self.schema = schema
        self.keySchema = keySchema
        homes = HomeRows(schema: schema)
    }

    public func reading(_ keys: [RoutingKey]) -> SQL { homes.reading(keys) }

    public func aggregates(in rows: PostgresRows) throws(PostgresError) -> [RoutingKey: Home.State] {
        var homes: [RoutingKey: Home.State] = [:]
        for row in rows { try HomeRows.add(row, to: &homes) }
        return homes
    }

    public func writing(_ events: [ConfirmedEvent<IdentityEvent>], where passed: SQL) -> [SQL] {
        let writer = HomeWriter(schema: schema, keySchema: keySchema, passed: passed)
        var waves: [HomeChanges] = []
        var wave: [RoutingKey: Int] = [:]
        for confirmed in events {
            guard let event = confirmed.event else { continue }
            let home = domain.key(of: event)
            // Rows of different homes have nothing to do with each other, so that only events of one home must wait for each other.
            let index = wave[home, default: 0]
            wave[home] = index + 1
            if index == waves.count { waves.append(HomeChanges()) }
            let partition = confirmed.envelope.partition.partition
            waves[index].add(event, HomeChanges.Place(home: home, partition: partition, time: confirmed.envelope.time))
        }
        return waves.flatMap(writer.statements)
    }

    public func housekeeping(at times: [Int: Timestamp], where passed: SQL) -> [SQL] {
        HomeWriter(schema: schema, keySchema: keySchema, passed: passed).housekeeping(at: times)
    }
}
