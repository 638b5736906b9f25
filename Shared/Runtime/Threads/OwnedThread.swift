import Glibc

/// A detached POSIX thread of ours: the one place where threads are made.
package enum OwnedThread {
    /// Starts a thread. `name` shows in debuggers and `/proc`; the kernel keeps its first 15 bytes.
    ///
    /// Signals stay blocked in it: they are the main thread's business, and C libraries see no `EINTR`. Except for faults, which
    /// belong to the thread that makes them.
    package static func start(name: String, stackSize: Int = 1 << 20, _ body: @escaping @Sendable () -> Void) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
        pthread_attr_setstacksize(&attributes, stackSize)

        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        for fault in LastWords.faults { sigdelset(&all, fault) }
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }

        let start = Unmanaged.passRetained(ThreadStart(name: name, body: body))
        var thread = pthread_t()
        let code = pthread_create(&thread, &attributes, runOwnedThread, start.toOpaque())
        // Out of threads or memory at start: nothing useful can go on without this thread.
        precondition(code == 0, "cannot start thread \(name): error \(code)")
    }
}

private final class ThreadStart: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
    }
}

private func runOwnedThread(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument else { return nil }
    let start = Unmanaged<ThreadStart>.fromOpaque(argument).takeRetainedValue()
    nameThisThread(start.name)
    start.body()
    return nil
}

/// By way of the kernel's file, since glibc shows its own call for this only to GNU programs.
private func nameThisThread(_ name: String) {
    let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    defer { close(file) }
    let bytes = Array(name.utf8.prefix(15))
    _ = write(file, bytes, bytes.count)
}
