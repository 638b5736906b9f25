@preconcurrency import Glibc
import Synchronization

/// What the log holds back is written when the process dies of a fault, such as a trap: what came last explains it.
enum LastWords {
    static let faults = [SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGBUS, SIGSEGV]

    /// The writer lives as long as the process from here on.
    static func leave(by writer: LineWriter) {
        lastWriter.store(UInt(bitPattern: Unmanaged.passRetained(writer).toOpaque()), ordering: .releasing)
        for fault in faults {
            var action = sigaction()
            action.__sigaction_handler.sa_handler = sayLastWords
            // A thread whose stack is used up has no other.
            action.sa_flags = SA_ONSTACK
            sigaction(fault, &action, &actionsBefore[Int(fault)])
        }
    }
}

private let lastWriter = Atomic<UInt>(0)
/// By signal; written before the handler can be called.
private nonisolated(unsafe) let actionsBefore: UnsafeMutablePointer<sigaction> = {
    let actions = UnsafeMutablePointer<sigaction>.allocate(capacity: 65)
    actions.initialize(repeating: sigaction(), count: 65)
    return actions
}()

/// Does nothing that a signal handler must not: no lock, no memory.
private func sayLastWords(_ fault: Int32) {
    if let writer = UnsafeRawPointer(bitPattern: lastWriter.load(ordering: .acquiring)) {
        Unmanaged<LineWriter>.fromOpaque(writer).takeUnretainedValue().writeLastWords()
    }
    // Then what would have happened without this.
    sigaction(fault, &actionsBefore[Int(fault)], nil)
    raise(fault)
}
