import Glibc

/// SIGTERM and SIGINT, taken out of asynchronous delivery and waited for on one thread.
struct TerminationSignals: Sendable {
    private init() {}

    /// Blocks the signals in the calling thread and in all threads that it starts from then on, and ignores SIGPIPE. Has to
    /// come before any other thread exists: a thread without the block would be killed by the signal.
    static func block() -> TerminationSignals {
        var set = Self.set()
        pthread_sigmask(SIG_BLOCK, &set, nil)
        signal(SIGPIPE, SIG_IGN)
        return TerminationSignals()
    }

    /// Waits for ever, and calls `body` once for each signal.
    func wait(_ body: () -> Void) -> Never {
        var set = Self.set()
        var number: Int32 = 0
        while true {
            if sigwait(&set, &number) == 0 { body() }
        }
    }

    private static func set() -> sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, SIGTERM)
        sigaddset(&set, SIGINT)
        return set
    }
}
