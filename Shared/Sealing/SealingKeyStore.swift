public import Crypto
public import EventSchema
public import Postgres
internal import Synchronization

/// A service's own pairs, for those services whose boxes must become unreadable for everybody: a random one for each day,
/// whose private half is kept in Postgres only, wrapped under the service's secret, until nothing can be sealed to it any
/// more and everything that was is read.
///
/// Any number of instances may do this at once: the first one's pair for a day is everybody's. Used from one thread at a
/// time; every call blocks.
public final class SealingKeyStore: Sendable {
    public let service: ServiceName
    public let schedule: SealingSchedule
    /// Opens what is sealed to the pairs that are there.
    public let opener: BoxOpener

    private let table: SealingKeyTable
    /// The pairs in `opener`.
    private let held = Mutex<[String: SealingKeyTable.Row]>([:])

    /// - Parameters:
    ///   - schema: where `migrations` were applied; a trusted name.
    ///   - secret: the service's own, which no other process holds.
    ///   - accepted: others that pairs may be wrapped under.
    public init(
        service: ServiceName, schema: String, secret: Secret, accepted: [Secret] = [], opener: BoxOpener,
        schedule: SealingSchedule = SealingSchedule()
    ) {
        self.service = service
        self.schedule = schedule
        self.opener = opener
        table = SealingKeyTable(service: service, schema: schema, secret: secret, accepted: accepted)
    }

    /// Makes the pairs of the day (towards its end, of the next day too) unless they are there, takes up those that other
    /// instances made, and drops from `opener` those that others destroyed. When this returns they are committed.
    ///
    /// - Returns: all keys that senders may use now or soon, oldest first: what must stand in the topic `keys`.
    /// - Throws: `.locked` if a pair was wrapped under another secret: this instance would seal what others cannot open.
    public func refresh(over connection: PostgresConnection, at now: Timestamp) throws(SealingError) -> [SealingKeyPublished] {
        let known = held.withLock { $0 }
        let missing = schedule.days(at: now).filter { day in !known.values.contains { $0.day == day } }
        let drawn = missing.map { table.draw(day: $0, schedule: schedule) }
        let rows = try table.insertOrRead(drawn, over: connection)
        var current: [String: SealingKeyTable.Row] = [:]
        for row in rows {
            if known[row.id] != row { opener.insert(try table.unwrap(row), id: row.id) }
            current[row.id] = row
        }
        for id in known.keys where current[id] == nil { opener.remove(id: id) }
        held.withLock { $0 = current }
        return rows.filter { now < $0.notAfter }.map { $0.published(by: service) }
    }

    /// Destroys the pairs whose time is over: two days after they began, and once everything that may have been sealed to
    /// them has been read.
    ///
    /// - Parameter isRead: whether every inbox of the service, in all partitions, has been read past everything that was
    ///   appended before the given time of the log's own clock. A wrong clock of this machine must not make it true.
    /// - Returns: the ids of the destroyed pairs.
    public func destroy(
        over connection: PostgresConnection, at now: Timestamp, isRead: (Timestamp) -> Bool
    ) throws(SealingError) -> [String] {
        let over = held.withLock { $0.values }.filter { row in
            let lastUse = schedule.lastUse(notAfter: row.notAfter)
            return lastUse <= now && isRead(lastUse)
        }
        if over.isEmpty { return [] }
        try table.destroy(Set(over.map(\.id)), over: connection)
        for row in over { opener.remove(id: row.id) }
        held.withLock { held in
            for row in over { held[row.id] = nil }
        }
        return over.map(\.id).sorted()
    }

    /// Makes a pair that takes the place of the day's own soon, and commits it. Instances take it up when it is published. Blocks.
    func drawOutOfTurn(over connection: PostgresConnection, at now: Timestamp) throws(SealingError) -> SealingKeyPublished {
        // Two in one second are one.
        let drawn = table.draw(at: now, schedule: schedule)
        let rows = try table.insertOrRead([drawn], over: connection)
        return (rows.first { $0.day == drawn.day } ?? drawn).published(by: service)
    }

    /// Wraps every pair under the secret itself, so that no other one is needed any more. Blocks.
    ///
    /// - Returns: how many were wrapped anew.
    public func rewrap(over connection: PostgresConnection) throws(SealingError) -> Int {
        try table.rewrap(over: connection)
    }

    /// The ids of the pairs that `opener` holds.
    public var keyIDs: Set<String> { held.withLock { Set($0.keys) } }

    /// The tables that the store needs, in a schema of the service's own.
    public static func migrations(schema: String, owner: String? = nil) throws(PostgresError) -> Migrations {
        try SealingKeyTable.migrations(schema: schema, owner: owner)
    }
}
