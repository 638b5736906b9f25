import Runtime
import Testing

@Suite struct WallClockTests {
    @Test(arguments: [
        (Int64(0), "1970-01-01T00:00:00.000Z"),
        (1_767_225_599_999, "2025-12-31T23:59:59.999Z"),
        (1_709_164_800_000, "2024-02-29T00:00:00.000Z"),
        (951_782_400_000, "2000-02-29T00:00:00.000Z"),
        (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (-2_203_891_200_000, "1900-03-01T00:00:00.000Z"),
    ])
    func `times are RFC 3339 in UTC with milliseconds`(milliseconds: Int64, text: String) {
        #expect(WallClock.rfc3339(milliseconds) == text)
    }

    @Test func `the clock runs in this century`() {
        #expect(WallClock.now() > 1_735_689_600_000)
    }
}
