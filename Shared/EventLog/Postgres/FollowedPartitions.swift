import EventLog
import EventSchema
import Postgres

/// The partitions that a consumer follows, and how far it is with each.
struct FollowedPartitions {
    private struct Following {
        var partition: TopicPartition
        /// The offset of the next record to deliver.
        var position: Int64
        /// Records from `position` on that this process has appended itself, to be delivered next.
        var handed: [Record] = []
        /// The table was looked at since it is followed: what is handed over follows upon what stands there.
        var isKnown = false
        /// There may be more than was read.
        var isSuspect = true
        /// That the partition ends at `position` was told.
        var hasToldEnd = false
        /// The position does not exist, which was told: nothing is delivered until the caller says where to go on.
        var isStuck = false
    }

    /// What one look at one table brings at most; one record more than that is always taken.
    private static let bytes = 2 << 20
    private static let recordsOfPartition = 1_000

    private var following: [ConsumerInbox.Key: Following] = [:]
    /// Where the next look begins, so that no partition waits behind full ones for ever.
    private var turn = 0

    var isEmpty: Bool { following.isEmpty }
    var partitions: [TopicPartition] { following.values.map(\.partition).sorted() }

    mutating func follow(_ partition: TopicPartition, key: ConsumerInbox.Key, from offset: Int64) {
        following[key] = Following(partition: partition, position: offset)
    }

    mutating func unfollow(_ key: ConsumerInbox.Key) { following[key] = nil }

    mutating func take(_ growth: Growth) {
        guard var entry = following[growth.key] else { return }
        let next = entry.handed.last.map { $0.offset + 1 } ?? entry.position
        guard growth.end > next else { return }
        if entry.isKnown, growth.records.first?.offset == next {
            entry.handed += growth.records
        } else {
            entry.isSuspect = true
        }
        following[growth.key] = entry
    }

    /// What was handed over may have been lost with the server: the log says what stands there.
    mutating func distrust() {
        for key in following.keys {
            following[key]?.handed = []
            following[key]?.isKnown = false
        }
        suspectAll()
    }

    mutating func suspectAll() {
        for key in following.keys { following[key]?.isSuspect = true }
    }

    /// Looks at every partition that may have more, in one round trip, and delivers what was found, and what was handed over.
    mutating func fetch(over connection: PostgresConnection) throws -> [LogEvent] {
        var events: [LogEvent] = []
        try fetch(over: connection, into: &events)
        // Not before: what is delivered is not delivered again, and the look may have failed.
        deliverHanded(into: &events)
        return events
    }

    private mutating func fetch(over connection: PostgresConnection, into events: inout [LogEvent]) throws {
        let due = following.filter { $0.value.isSuspect && !$0.value.isStuck }.map(\.key)
            .sorted { ($0.topic, $0.partition) < ($1.topic, $1.partition) }
        guard !due.isEmpty else { return }
        turn += 1
        let start = turn % due.count
        let order = due[start...] + due[..<start]
        let lasting = order.filter { following[$0]?.partition.topic.isLasting == true }
        let passing = order.filter { following[$0]?.partition.topic.isLasting == false }
        let tables = [("log.lasting_records", lasting), ("log.passing_records", passing)].filter { !$0.1.isEmpty }
        let results = try connection.batch(tables.map { statement(table: $0.0, $0.1) })
        for ((_, keys), rows) in zip(tables, results) { try read(rows, keys, into: &events) }
    }

    private mutating func deliverHanded(into events: inout [LogEvent]) {
        for (key, var entry) in following where !entry.handed.isEmpty {
            // The look may have brought some of it.
            let records = entry.handed.drop { $0.offset < entry.position }
            entry.handed = []
            if let last = records.last, records.first?.offset == entry.position, !entry.isStuck {
                events.append(.records(entry.partition, Array(records)))
                entry.position = last.offset + 1
                entry.hasToldEnd = !entry.isSuspect
                if !entry.isSuspect { events.append(.reachedEnd(entry.partition, end: entry.position)) }
            } else if !records.isEmpty {
                entry.isSuspect = true
            }
            following[key] = entry
        }
    }

    private func statement(table: String, _ keys: [ConsumerInbox.Key]) -> SQL {
        """
        SELECT number, first_offset, next_offset, "offset", time, key, headers, value FROM (
            SELECT f.number, p.first_offset, p.next_offset, r.*,
                coalesce(sum(r.size) OVER (ORDER BY f.number, r."offset" ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
            FROM unnest(
                \(keys.map(\.topic)), \(keys.map { Int16($0.partition) }), \(keys.map { following[$0]?.position ?? 0 })
            ) WITH ORDINALITY AS f(topic, partition, position, number)
            JOIN log.partitions AS p ON p.topic = f.topic AND p.partition = f.partition
            LEFT JOIN LATERAL (
                SELECT "offset", time, key, headers, value, 64 + octet_length(headers) + octet_length(value) AS size
                FROM \(unsafe: table) AS r
                WHERE r.topic = p.topic AND r.partition = p.partition AND r."offset" >= f.position
                    AND f.position >= p.first_offset AND f.position < p.next_offset
                ORDER BY r."offset" LIMIT \(Self.recordsOfPartition)
            ) AS r ON true
        ) AS found
        WHERE before < \(Self.bytes)
        ORDER BY number, "offset"
        """
    }

    private mutating func read(_ rows: PostgresRows, _ keys: [ConsumerInbox.Key], into events: inout [LogEvent]) throws {
        var index = 0
        while index < rows.count {
            let number = try rows[index].decode(0, as: Int.self)
            guard keys.indices.contains(number - 1), var entry = following[keys[number - 1]] else {
                throw LogError(.closed, "an answer for a partition that nobody asked for")
            }
            let first = try rows[index].decode(1, as: Int64.self)
            let end = try rows[index].decode(2, as: Int64.self)
            var records: [Record] = []
            // What stands before a record that cannot be read is delivered, and the next look fails.
            var isCutShort = false
            while index < rows.count, try rows[index].decode(0, as: Int.self) == number {
                do {
                    if !isCutShort, let record = try Self.record(rows[index], of: entry.partition) { records.append(record) }
                } catch {
                    if records.isEmpty { throw error }
                    isCutShort = true
                }
                index += 1
            }
            if let last = records.last {
                entry.position = last.offset + 1
                entry.hasToldEnd = false
                events.append(.records(entry.partition, records))
            }
            entry.isKnown = true
            // What was appended before this look is in the table, or was lost with a server.
            if let last = entry.handed.last, last.offset >= end { entry.handed = [] }
            if entry.position == end {
                entry.isSuspect = false
                if !entry.hasToldEnd { events.append(.reachedEnd(entry.partition, end: end)) }
                entry.hasToldEnd = true
            } else if records.isEmpty {
                entry.isStuck = true
                events.append(.outOfRange(entry.partition, begin: first, end: end))
            }
            following[keys[number - 1]] = entry
        }
    }

    /// `nil` where the partition had nothing.
    private static func record(_ row: PostgresRow, of partition: TopicPartition) throws -> Record? {
        guard let offset = try row.decode(3, as: Int64?.self) else { return nil }
        let headers = row.withBytes(6) { $0.flatMap { HeaderCoding.decode($0) } }
        guard let headers else { throw LogError(.unreadable, "the headers of \(partition)@\(offset) cannot be read") }
        return Record(
            partition: partition, offset: offset, time: Timestamp(milliseconds: try row.decode(4, as: Int64.self)),
            key: try row.decode(5, as: [UInt8].self), headers: headers, value: try row.decode(7, as: [UInt8].self))
    }
}
