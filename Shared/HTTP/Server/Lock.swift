import Glibc

/// A value behind a POSIX mutex.
///
/// `Synchronization.Mutex` would do, but waits for a contended lock inside the standard library, where Thread Sanitizer does
/// not see it, and then reports races that are none.
struct Lock<Value: Sendable>: ~Copyable, @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t> = .allocate(capacity: 1)
    private let value: UnsafeMutablePointer<Value> = .allocate(capacity: 1)

    init(_ initial: consuming Value) {
        pthread_mutex_init(mutex, nil)
        value.initialize(to: initial)
    }

    deinit {
        value.deinitialize(count: 1)
        value.deallocate()
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    func withLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value.pointee)
    }
}
