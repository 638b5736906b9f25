import Glibc

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
