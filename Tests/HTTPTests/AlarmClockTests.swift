import Synchronization
import Testing

@testable import HTTP

@Suite(.timeLimit(.minutes(1))) struct AlarmClockTests {
    private final class Bell: Alarm, @unchecked Sendable {
        let due: Int64
        /// How long after its time it rang, in nanoseconds.
        let delays: Collector<Int64>

        init(_ due: Int64, _ delays: Collector<Int64>) {
            self.due = due
            self.delays = delays
        }

        override func ring() { delays.add(AlarmClock.now - due) }
    }

    @Test func `each alarm rings once, and not before its time`() async {
        let delays = Collector<Int64>()
        let now = AlarmClock.now
        let bells = [40, 0, 20, 20].map { Bell(now + $0 * 1_000_000, delays) }
        for bell in bells { AlarmClock.shared.add(bell, at: bell.due) }
        #expect(await delays.wait(for: 4).allSatisfy { $0 >= 0 })
        // Time for one too many.
        let last = Bell(AlarmClock.now + 20_000_000, delays)
        AlarmClock.shared.add(last, at: last.due)
        #expect(await delays.wait(for: 5).count == 5)
        for bell in bells + [last] { AlarmClock.shared.remove(bell) }
    }

    @Test func `an alarm that is moved rings at its new time, one that is removed never`() async {
        let delays = Collector<Int64>()
        let removals = Collector<Int64>()
        let now = AlarmClock.now
        let later = Bell(now + 60_000_000, delays)
        let removed = Bell(now + 3_600_000_000_000, removals)
        let sooner = Bell(now + 30_000_000, delays)
        AlarmClock.shared.add(later, at: now + 3_000_000_000)
        AlarmClock.shared.add(removed, at: now + 3_600_000_000_000)
        AlarmClock.shared.add(sooner, at: now + 3_600_000_000_000)
        AlarmClock.shared.remove(removed)
        AlarmClock.shared.move(removed, to: now)
        AlarmClock.shared.move(later, to: later.due)
        AlarmClock.shared.move(sooner, to: sooner.due)
        #expect(await delays.wait(for: 2).allSatisfy { $0 >= 0 })
        #expect(removals.values.isEmpty)
        AlarmClock.shared.remove(later)
        AlarmClock.shared.remove(sooner)
    }
}
