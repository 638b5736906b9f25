import Synchronization
import Testing

@testable import HTTP

@Suite(.timeLimit(.minutes(1))) struct AlarmClockTests {
    private final class Bell: Alarm, @unchecked Sendable {
        let name: Int
        let rung: Collector<Int>

        init(_ name: Int, _ rung: Collector<Int>) {
            self.name = name
            self.rung = rung
        }

        override func ring() { rung.add(name) }
    }

    @Test func `alarms ring once, in the order of their times`() async {
        let rung = Collector<Int>()
        let now = AlarmClock.now
        let bells = [40, 0, 20].map { Bell($0, rung) }
        for bell in bells { AlarmClock.shared.add(bell, at: now + Int64(bell.name) * 1_000_000) }
        #expect(await rung.wait(for: 3) == [0, 20, 40])
        for bell in bells { AlarmClock.shared.remove(bell) }
    }

    @Test func `an alarm that is moved rings at its new time, one that is removed never`() async {
        let rung = Collector<Int>()
        let now = AlarmClock.now
        let later = Bell(1, rung)
        let removed = Bell(2, rung)
        let sooner = Bell(3, rung)
        AlarmClock.shared.add(later, at: now + 10_000_000)
        AlarmClock.shared.add(removed, at: now + 20_000_000)
        AlarmClock.shared.add(sooner, at: now + 3_600_000_000_000)
        AlarmClock.shared.move(later, to: now + 60_000_000)
        AlarmClock.shared.move(sooner, to: now + 30_000_000)
        AlarmClock.shared.remove(removed)
        #expect(await rung.wait(for: 2) == [3, 1])
        #expect(AlarmClock.now - now >= 60_000_000)
        AlarmClock.shared.remove(later)
        AlarmClock.shared.remove(sooner)
    }
}
