import CPostgres
import Glibc

/// A thread for blocking work: never one of Swift's cooperative pool.
package enum OwnThread {
    private final class Start {
        let name: String
        let body: @Sendable () -> Void
        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }

    /// Starts a detached thread. `name` (up to 15 bytes) shows in `ps -L` and in debuggers.
    package static func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
        var thread = pthread_t()
        let start = Unmanaged.passRetained(Start(name: name, body: body))
        let failure = pthread_create(&thread, nil, runThread, start.toOpaque())
        precondition(failure == 0, "no thread can be started (\(failure))")
        pthread_detach(thread)
    }

    fileprivate static func run(_ raw: UnsafeMutableRawPointer) {
        let start = Unmanaged<Start>.fromOpaque(raw).takeRetainedValue()
        _ = latchkey_name_thread(start.name)
        start.body()
    }
}

private func runThread(_ raw: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let raw { OwnThread.run(raw) }
    return nil
}

/// Where one thread waits until another lets it go on. A permit given before the wait is not lost; several are one.
package final class Parking: @unchecked Sendable {
    // The pthread objects must not move in memory, and are only used through their own functions.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var permit = false  // guarded by `mutex`

    package init() {
        mutex = .allocate(capacity: 1)
        condition = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Waits for a permit and takes it. Returns whether there was one before the deadline.
    @discardableResult
    package func park(until deadline: ContinuousClock.Instant? = nil) -> Bool {
        var limit = timespec()
        if let deadline {
            clock_gettime(CLOCK_MONOTONIC, &limit)
            let left = max(.zero, ContinuousClock.now.duration(to: deadline)).components
            let nanoseconds = limit.tv_nsec + Int(left.attoseconds / 1_000_000_000)
            limit.tv_sec += Int(min(left.seconds, 86_400)) + nanoseconds / 1_000_000_000
            limit.tv_nsec = nanoseconds % 1_000_000_000
        }
        pthread_mutex_lock(mutex)
        defer {
            permit = false
            pthread_mutex_unlock(mutex)
        }
        while !permit {
            if deadline == nil {
                pthread_cond_wait(condition, mutex)
            } else if pthread_cond_timedwait(condition, mutex, &limit) == ETIMEDOUT {
                break
            }
        }
        return permit
    }

    package func unpark() {
        pthread_mutex_lock(mutex)
        permit = true
        pthread_mutex_unlock(mutex)
        pthread_cond_signal(condition)
    }
}
