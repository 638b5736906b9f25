import Glibc
import Synchronization

/// Lines to a file descriptor, standard error as a rule: one `write` for each, never mixed, and never a reason to stop.
///
/// A reader that stalls costs a line at most 50 ms, and from then on nothing until it reads again; a reader that went away
/// costs nothing. What was lost meanwhile is counted, and the count is logged as soon as a line goes through.
public final class StandardErrorSink: LogSink {
    private struct State {
        var lost = 0
        var stalled = false
    }

    private let descriptor: Int32
    private let state = Mutex(State())

    public convenience init() { self.init(descriptor: STDERR_FILENO) }

    /// The descriptor stays open for as long as the sink lives; the caller closes it.
    public init(descriptor: Int32) {
        self.descriptor = descriptor
        // Otherwise the first line after the reader went away would end the process.
        signal(SIGPIPE, SIG_IGN)
    }

    public func write(_ entry: LogEntry) {
        let line = entry.line()
        state.withLock { state in
            guard isWritable(within: state.stalled ? 0 : 50) else {
                state.stalled = true
                state.lost += 1
                return
            }
            state.stalled = false
            if state.lost > 0 {
                let notice = LogEntry(
                    time: entry.time, level: .warning, service: entry.service, message: "log lines were lost",
                    fields: [("count", .integer(Int64(state.lost)))], traceID: nil)
                if put(notice.line()) { state.lost = 0 }
            }
            if !put(line) { state.lost += 1 }
        }
    }

    private func isWritable(within milliseconds: Int32) -> Bool {
        var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        while true {
            let count = Glibc.poll(&poll, 1, milliseconds)
            if count < 0 && errno == EINTR { continue }
            return count == 1 && poll.revents & Int16(POLLOUT) != 0
        }
    }

    private func put(_ line: [UInt8]) -> Bool {
        while true {
            let written = Glibc.write(descriptor, line, line.count)
            if written < 0 && errno == EINTR { continue }
            return written == line.count
        }
    }
}
