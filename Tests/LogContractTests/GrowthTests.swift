import EventLog
import EventSchema
import Testing

@testable import EventLogPostgres

@Suite struct `What a process has appended itself` {
    private static let key = ConsumerInbox.Key(topic: 1, partition: 0)

    private func records(_ offsets: Range<Int64>, size: Int = 1) -> [Record] {
        offsets.map {
            Record(
                partition: TopicPartition(.verificationEvents, 0), offset: $0, time: Timestamp(milliseconds: 0), key: [],
                headers: [],
                value: [UInt8](repeating: 0, count: size))
        }
    }

    private func own(_ offsets: Range<Int64>) -> Growth { Growth(Self.key, to: offsets.upperBound, by: records(offsets)) }

    private func offsets(_ growth: Growth) -> [Int64] { growth.records.map(\.offset) }

    @Test func `is handed on as long as nothing is missing in between`() {
        let both = own(3..<5).followed(by: own(5..<6))
        #expect(both.end == 6 && offsets(both) == [3, 4, 5])
        let gap = own(3..<5).followed(by: own(6..<7))
        #expect(gap.end == 7 && offsets(gap).isEmpty)
        let afterOthers = Growth(Self.key, to: 5).followed(by: own(5..<6))
        #expect(afterOthers.end == 6 && offsets(afterOthers).isEmpty)
        let beforeOthers = own(3..<5).followed(by: Growth(Self.key, to: 8))
        #expect(beforeOthers.end == 8 && offsets(beforeOthers).isEmpty)
    }

    @Test func `outlasts older news`() {
        let same = own(3..<5).followed(by: Growth(Self.key, to: 5))
        #expect(same.end == 5 && offsets(same) == [3, 4])
        let older = own(3..<5).followed(by: own(1..<3))
        #expect(older.end == 5 && offsets(older) == [3, 4])
    }

    @Test func `is fetched where it is much`() {
        #expect(Growth(Self.key, to: 1_001, by: records(0..<1_001)).records.isEmpty)
        #expect(Growth(Self.key, to: 3, by: records(0..<3, size: 1 << 20)).records.isEmpty)
        #expect(own(0..<1_000).followed(by: own(1_000..<1_001)).records.isEmpty)
    }
}
