import Glibc
import Synchronization

/// Something that rings once its time has come, unless that is moved or taken away before. Subclasses say what happens.
class Alarm: @unchecked Sendable {
    /// When it rings, in nanoseconds of the monotonic clock; `Int64.max` for never, `Alarm.rung` once it does.
    fileprivate let due = Atomic<Int64>(.max)
    // Links of the clock's list, guarded by its lock: the reason for `@unchecked`.
    fileprivate var previous: Alarm?
    fileprivate var next: Alarm?
    fileprivate var isListed = false

    fileprivate static let rung = Int64.min

    /// Whether its time came and it was not moved since.
    var hasRung: Bool { due.load(ordering: .sequentiallyConsistent) == Alarm.rung }

    /// Called on the clock's thread, without its lock. Must not block.
    func ring() {}
}

/// Watches all deadlines of the process on one thread, so that a request costs no timer of its own. Alarms mostly move
/// away from the thread's next look, which then costs one atomic store.
final class AlarmClock: @unchecked Sendable {
    static let shared = AlarmClock()

    /// Looks at the list no more often than this, in nanoseconds.
    private static let grain: Int64 = 5_000_000

    private let lock: UnsafeMutablePointer<pthread_mutex_t> = .allocate(capacity: 1)
    private let wake: UnsafeMutablePointer<pthread_cond_t> = .allocate(capacity: 1)
    private let nextLook = Atomic<Int64>(.max)
    // Guarded by `lock`.
    private var first: Alarm?

    private init() {
        pthread_mutex_init(lock, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(wake, &attributes)
        pthread_condattr_destroy(&attributes)
        Thread.start(name: "http-alarms") { [self] in run() }
    }

    static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Puts the alarm on the list; it stays there, rung or not, until `remove`.
    func add(_ alarm: Alarm, at due: Int64) {
        pthread_mutex_lock(lock)
        if !alarm.isListed {
            alarm.isListed = true
            alarm.next = first
            first?.previous = alarm
            first = alarm
        }
        pthread_mutex_unlock(lock)
        move(alarm, to: due)
    }

    func remove(_ alarm: Alarm) {
        pthread_mutex_lock(lock)
        if alarm.isListed {
            alarm.isListed = false
            if let previous = alarm.previous { previous.next = alarm.next } else { first = alarm.next }
            alarm.next?.previous = alarm.previous
            alarm.previous = nil
            alarm.next = nil
        }
        pthread_mutex_unlock(lock)
    }

    /// Moves an alarm on the list to another time.
    func move(_ alarm: Alarm, to due: Int64) {
        alarm.due.store(due, ordering: .sequentiallyConsistent)
        guard due < nextLook.load(ordering: .sequentiallyConsistent) else { return }
        pthread_mutex_lock(lock)
        if due < nextLook.load(ordering: .relaxed) {
            nextLook.store(due, ordering: .sequentiallyConsistent)
            pthread_cond_signal(wake)
        }
        pthread_mutex_unlock(lock)
    }

    private func run() {
        pthread_mutex_lock(lock)
        while true {
            let look = nextLook.load(ordering: .relaxed)
            let now = AlarmClock.now
            if look > now {
                wait(until: look)
                continue
            }
            // Announced before the list is read: an alarm that moves meanwhile to before it announces itself.
            nextLook.store(.max, ordering: .sequentiallyConsistent)
            var ringing: [Alarm] = []
            var earliest = Int64.max
            var current = first
            while let alarm = current {
                let due = alarm.due.load(ordering: .sequentiallyConsistent)
                if due == Alarm.rung {
                    // Stays silent until it is moved.
                } else if due <= now {
                    if alarm.due.compareExchange(expected: due, desired: Alarm.rung, ordering: .sequentiallyConsistent).exchanged
                    {
                        ringing.append(alarm)
                    } else {
                        earliest = now
                    }
                } else {
                    earliest = min(earliest, due)
                }
                current = alarm.next
            }
            if earliest != .max {
                let announced = nextLook.load(ordering: .relaxed)
                nextLook.store(min(announced, max(earliest, now + AlarmClock.grain)), ordering: .sequentiallyConsistent)
            }
            pthread_mutex_unlock(lock)
            for alarm in ringing { alarm.ring() }
            ringing.removeAll()
            pthread_mutex_lock(lock)
        }
    }

    private func wait(until look: Int64) {
        guard look != .max else {
            pthread_cond_wait(wake, lock)
            return
        }
        var time = timespec(tv_sec: Int(look / 1_000_000_000), tv_nsec: Int(look % 1_000_000_000))
        pthread_cond_timedwait(wake, lock, &time)
    }
}

extension Duration {
    /// Whole nanoseconds, at most 292 years.
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds > Int64.max / 1_000_000_000 - 1 ? .max / 2 : seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
