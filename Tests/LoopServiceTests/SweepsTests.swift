import EventSchema
import Testing

@testable import Projections

@Suite struct `What is over is looked for` {
    private func time(_ minutes: Int64, _ milliseconds: Int64 = 0) -> Timestamp {
        Timestamp(milliseconds: minutes * 60_000 + milliseconds)
    }

    @Test func `once in each minute of a partition's events`() {
        var sweeps = Sweeps()
        #expect(sweeps.due(by: [0: time(5, 10), 1: time(7)]) == [0: time(5), 1: time(7)])
        sweeps.note([0: time(5)])
        #expect(sweeps.due(by: [0: time(5, 59_999), 1: time(7, 1)]) == [1: time(7)])
        #expect(sweeps.due(by: [0: time(6)]) == [0: time(6)])
        // Also where a clock was set back.
        #expect(sweeps.due(by: [0: time(4, 1)]) == [0: time(4)])
    }

    @Test func `again where that may have been lost`() {
        var sweeps = Sweeps()
        sweeps.note([0: time(5), 1: time(5)])
        sweeps.forget([1])
        #expect(sweeps.due(by: [0: time(5, 1), 1: time(5, 1)]) == [1: time(5)])
    }

    @Test(arguments: [(0, 0), (59_999, 0), (60_000, 60_000), (-1, -60_000), (-60_000, -60_000), (-60_001, -120_000)])
    func `by whole minutes`(milliseconds: Int64, minute: Int64) {
        #expect(Timestamp(milliseconds: milliseconds).startOfMinute == Timestamp(milliseconds: minute))
    }
}
