import Crypto
import EventLog
import EventSchema
import Testing

@testable import IdentityService

@Suite struct `The topic of keys under audit` {
    private static let place = TopicPartition(.keys, 0)
    private let authenticator: RecordAuthenticator

    init() throws { authenticator = try RecordAuthenticator(keys: [1: .random(count: 32)]) }

    /// Sources of records, those of services with a MAC, and how long after the first one they came.
    private func report(_ records: [(source: String, after: Interval)]) -> ChainReport {
        var walk = KeysWalk(log: [1], authenticator: authenticator)
        for (offset, (source, after)) in records.enumerated() {
            var record = OutgoingRecord(
                partition: Self.place, key: [], headers: [Header(HeaderName.source, source)], value: Array("{}".utf8))
            if source != "/provision" { record = authenticator.sealed(record) }
            walk.read(
                Record(
                    partition: Self.place, offset: Int64(offset), time: Timestamp(milliseconds: 1_000) + after, key: [],
                    headers: record.headers, value: record.value), earlier: nil)
        }
        return walk.finish(at: Int64(records.count), earlier: nil)
    }

    @Test func `holds the names that services give it who provision it at the same time`() {
        let report = report([
            ("/provision", .zero), ("/provision", .milliseconds(40)), ("/identity", .milliseconds(60)),
            ("/provision", .milliseconds(70)), ("/notifier", .seconds(2)),
        ])
        #expect(report.isIntact)
        #expect((report.valid, report.void) == (3, 2))
    }

    @Test func `holds no such name later, and none where nobody began with one`() {
        let late = report([("/provision", .zero), ("/identity", .seconds(1)), ("/provision", .hours(1))])
        #expect(late.findings.map(\.kind) == [.changed] && late.findings.first?.offset == 2)
        let alone = report([("/identity", .zero), ("/provision", .milliseconds(1))])
        #expect(alone.findings.map(\.offset) == [1])
    }
}
