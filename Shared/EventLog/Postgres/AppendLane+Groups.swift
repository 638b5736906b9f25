import EventLog
import EventSchema
import Postgres

extension AppendLane {
    /// A batch by partitions, in the order in which every process locks them.
    struct Groups {
        private struct Place {
            var group: Int32
            var number: Int32
        }

        private let entries: [Entry]
        private var keys: [ConsumerInbox.Key]
        private var counts: [Int32]
        /// Where each entry stands; `nil` for one that cannot be appended.
        private var places: [Place?]
        private var firstOffsets: [Int64] = []
        private var times: [Int64] = []

        init(_ entries: [Entry]) {
            self.entries = entries
            keys = Set(entries.filter { $0.fault == nil }.map(\.key)).sorted {
                ($0.topic, $0.partition) < ($1.topic, $1.partition)
            }
            counts = [Int32](repeating: 0, count: keys.count)
            places = []
            places.reserveCapacity(entries.count)
            let indices = Dictionary(uniqueKeysWithValues: keys.enumerated().map { ($1, $0) })
            for entry in entries {
                guard entry.fault == nil, let index = indices[entry.key] else {
                    places.append(nil)
                    continue
                }
                // Arrays in SQL count from 1.
                places.append(Place(group: Int32(index + 1), number: counts[index]))
                counts[index] += 1
            }
        }

        var isEmpty: Bool { keys.isEmpty }

        mutating func append(over connection: PostgresConnection, isLasting: Bool) throws(PostgresError) {
            let members = zip(entries, places).compactMap { entry, place in place.map { (record: entry.record, place: $0) } }
            let rows = try connection.query(
                """
                SELECT first_offsets, times FROM log.append(
                    \(isLasting), \(keys.map(\.topic)), \(keys.map { Int16($0.partition) }), \(counts),
                    \(members.map(\.place.group)), \(members.map(\.place.number)),
                    \(members.map(\.record.key)), \(members.map { HeaderCoding.encode($0.record.headers) }),
                    \(members.map(\.record.value)))
                """)
            guard let row = rows.first else { throw PostgresError(.mismatch, "an append told no offsets") }
            (firstOffsets, times) = try row.decode([Int64].self, [Int64].self)
            guard firstOffsets.count == keys.count, times.count == keys.count else {
                throw PostgresError(.mismatch, "an append told too few offsets")
            }
        }

        /// Where the entry of this number came to stand.
        func appended(_ number: Int) -> Appended {
            guard let place = places[number] else { preconditionFailure("this record was not appended") }
            let group = Int(place.group) - 1
            return Appended(offset: firstOffsets[group] + Int64(place.number), time: Timestamp(milliseconds: times[group]))
        }

        /// What stands in the log now.
        var growth: [Growth] {
            var records = [[Record]](repeating: [], count: keys.count)
            for (number, place) in places.enumerated() {
                guard let place else { continue }
                let (record, appended) = (entries[number].record, appended(number))
                records[Int(place.group) - 1].append(
                    Record(
                        partition: record.partition, offset: appended.offset, time: appended.time, key: record.key,
                        headers: record.headers, value: record.value))
            }
            return keys.indices.map { Growth(keys[$0], to: firstOffsets[$0] + Int64(counts[$0]), by: records[$0]) }
        }
    }
}
