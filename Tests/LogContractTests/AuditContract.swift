import Crypto
import EventLog
import EventLogPostgres
import EventSchema
import Postgres
import Runtime
import TestSupport
import Testing

@testable import IdentityService

/// What an audit of a whole log finds, whatever keeps the log.
struct AuditContract {
    private static let keys: [UInt32: Secret] = [1: Secret([UInt8](repeating: 7, count: 32))]

    /// What was done to a partition before it came to stand in the log.
    private enum Tampering: Int, CaseIterable {
        case none, changed, removed, inserted, doubled, swapped, cut

        var expected: String? {
            switch self {
            case .none: nil
            case .changed: "changed@20"
            case .removed: "removed@20"
            case .inserted: "inserted@20"
            case .doubled: "doubled@40"
            case .swapped: "swapped@20"
            case .cut: "cut@30"
            }
        }

        func apply(to records: inout [OutgoingRecord]) {
            switch self {
            case .none: break
            case .changed: records[20].value[3] ^= 1
            case .removed: records.remove(at: 20)
            case .inserted:
                records.insert(OutgoingRecord(partition: records[0].partition, key: [], headers: [], value: [1]), at: 20)
            case .doubled: records.append(records[20])
            case .swapped: records.swapAt(20, 21)
            case .cut: records.removeLast(10)
            }
        }
    }

    /// A chain of 40 events, and where its head is.
    private func chain(
        _ place: TopicPartition, _ log: [UInt8], _ authenticator: RecordAuthenticator, inboxes: InboxPositions = InboxPositions(),
        count: Int = 40
    ) throws -> (records: [OutgoingRecord], head: ChainHead) {
        var chain = try ChainWriter(
            place, after: .genesis(of: place, in: log), authenticator: authenticator, writer: "test")
        let records = (0..<count).map { number in
            chain.append(
                EventBody(type: "test.v1", subject: nil, data: Array("{\"n\":\(number)}".utf8)), id: .random(),
                key: [1, 2, 3, 4, 5, 6], at: Timestamp(milliseconds: 1_700_000_000_000 + Int64(number)), inboxes: inboxes)
        }
        return (records, chain.head)
    }

    @Test(arguments: LogBackend.all)
    func `whatever is done to a partition is named`(backend: LogBackend) throws {
        let under = try backend.make(Tampering.allCases.count)
        let log = under.log
        let writer = try under.anotherProcess().writer()
        let authenticator = try RecordAuthenticator(keys: Self.keys)
        let id = try log.describe().id
        for tampering in Tampering.allCases {
            let place = TopicPartition(.identityEvents, tampering.rawValue)
            var (records, head) = try chain(place, id, authenticator)
            tampering.apply(to: &records)
            try writer.append(records)
            // Somebody has read all of it.
            var inboxes = InboxPositions()
            head.offset = 39
            inboxes.events[.identityEvents] = ChainPosition(offset: 40, head: head)
            try writer.append(
                chain(TopicPartition(.notifierEvents, place.partition), id, authenticator, inboxes: inboxes, count: 3).records)
        }
        for withKeys in [true, false] {
            let audit = ChainAudit(
                log: under.anotherProcess(), authenticator: withKeys ? authenticator : nil, patience: .milliseconds(50))
            let reports = try audit.run(StopFlag()) { _ in }
            #expect(reports.count == 3 * Tampering.allCases.count + 1)
            for report in reports where report.place.topic != .keys {
                let found = report.findings.first.map { "\($0.kind.rawValue)@\($0.offset)" }
                let expected =
                    report.place.topic == .identityEvents ? Tampering(rawValue: report.place.partition)?.expected : nil
                #expect(found == expected, "\(report.place) with\(withKeys ? "" : "out") keys")
                #expect(report.isIntact == (expected == nil || expected?.hasPrefix("doubled") == true))
            }
        }
    }

    @Test func `rows that were changed in Postgres are named`() throws {
        let database = try TestDatabase.create()
        let configuration = PostgresLog.Configuration.hasty(database)
        try PostgresLog.provision(configuration, partitions: 8)
        let log = PostgresLog(configuration)
        let writer = try log.writer()
        let authenticator = try RecordAuthenticator(keys: Self.keys)
        for partition in 0..<8 {
            try writer.append(chain(TopicPartition(.identityEvents, partition), try log.describe().id, authenticator).records)
        }
        let rows = "log.lasting_records WHERE topic = (SELECT id FROM log.topics WHERE name = 'identity.events')"
        let at = { (partition: Int, offset: Int) in "AND partition = \(partition) AND \"offset\" = \(offset)" }
        let update = rows.split(separator: " ").first.map(String.init) ?? ""
        let condition = String(rows.dropFirst(update.count))
        let connection = try database.connect()
        let script = [
            "UPDATE \(update) SET value = set_byte(value, 3, get_byte(value, 3) # 1) \(condition) \(at(1, 20))",
            "DELETE FROM \(rows) \(at(2, 20))",
            "UPDATE \(update) SET headers = set_byte(headers, 0, 9) \(condition) \(at(3, 20))",
            "DELETE FROM \(rows) AND partition = 4 AND \"offset\" >= 30",
            "UPDATE \(update) SET \"offset\" = 1000 \(condition) \(at(5, 20))",
            "UPDATE \(update) SET \"offset\" = 20 \(condition) \(at(5, 21))",
            "UPDATE \(update) SET \"offset\" = 21 \(condition) \(at(5, 1000))",
            "UPDATE \(update) SET key = '\\x00' \(condition) \(at(6, 20))",
            "DELETE FROM \(rows) AND partition = 7 AND \"offset\" < 10",
        ].joined(separator: ";")
        try connection.script(script)
        let audit = ChainAudit(log: log, authenticator: authenticator, patience: .milliseconds(50))
        let reports = try audit.run(StopFlag()) { _ in }.filter { $0.place.topic == .identityEvents }
        let found = reports.map { report in report.findings.first.map { "\($0.kind.rawValue)@\($0.offset)" } ?? "intact" }
        #expect(
            found == [
                "intact", "changed@20", "removed@20", "unreadable@20", "cut@30", "swapped@20", "changed@20", "removed@0",
            ])
    }
}
