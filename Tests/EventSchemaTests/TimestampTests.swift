import SeededRandom
import Testing

@testable import EventSchema

struct TimestampTests {
    /// The seconds are those of `date -u +%s`.
    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"), (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"), (951_868_800_000, "2000-03-01T00:00:00.000Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"), (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
            (1_709_208_000_007, "2024-02-29T12:00:00.007Z"), (1_735_689_599_050, "2024-12-31T23:59:59.050Z"),
            (-62_167_219_200_000, "0000-01-01T00:00:00.000Z"), (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
        ] as [(Int64, String)])
    func `is written and read in RFC 3339`(milliseconds: Int64, text: String) {
        #expect(Timestamp(milliseconds: milliseconds).rfc3339 == text)
        #expect(Timestamp(rfc3339: text) == Timestamp(milliseconds: milliseconds))
    }

    @Test(arguments: [
        "", "2024-02-29", "2023-02-29T12:00:00.000Z", "2100-02-29T12:00:00.000Z", "2024-13-01T12:00:00.000Z",
        "2024-00-01T12:00:00.000Z",
        "2024-01-00T12:00:00.000Z", "2024-04-31T12:00:00.000Z", "2024-01-01T24:00:00.000Z", "2024-01-01T23:60:00.000Z",
        "2016-12-31T23:59:60.000Z", "2024-01-01T12:00:00Z", "2024-01-01T12:00:00.00Z", "2024-01-01T12:00:00.0000Z",
        "2024-01-01t12:00:00.000z", "2024-01-01 12:00:00.000Z", "2024-01-01T12:00:00.000+00:00", "+024-01-01T12:00:00.000Z",
        "2024-01-01T12:00:00,000Z", " 2024-01-01T12:00:00.000Z", "2024-01-01T12:00:00.000Z ", "２024-01-01T12:00:00.0Z",
    ])
    func `reads no other form, and no time that does not exist`(text: String) {
        #expect(Timestamp(rfc3339: text) == nil)
    }

    @Test func `every day of four centuries comes back, one after the other`() throws {
        let first = try #require(CivilDate(year: 1_899, month: 12, day: 31)).daysSinceEpoch
        for days in first..<first + 146_097 {
            let date = CivilDate(daysSinceEpoch: days)
            guard CivilDate(year: date.year, month: date.month, day: date.day)?.daysSinceEpoch == days else {
                Issue.record("day \(days) comes back as another")
                return
            }
        }
        #expect(CivilDate(daysSinceEpoch: first + 146_097) == CivilDate(year: 2_299, month: 12, day: 31))
    }

    @Test func `times are in the order of their texts`() {
        var random = SeededGenerator(seed: 7)
        let times = (0..<500).map { _ in
            Timestamp(milliseconds: Int64.random(in: -60_000_000_000_000...250_000_000_000_000, using: &random))
        }
        #expect(times.sorted().map(\.rfc3339) == times.map(\.rfc3339).sorted())
        #expect(times.allSatisfy { Timestamp(rfc3339: $0.rfc3339) == $0 })
    }

    @Test func `what no text can say is written as the nearest that one can`() {
        #expect(Timestamp(milliseconds: .max).rfc3339 == "9999-12-31T23:59:59.999Z")
        #expect(Timestamp(milliseconds: .min).rfc3339 == "0000-01-01T00:00:00.000Z")
    }
}
