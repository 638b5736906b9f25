import Glibc

/// Lines to a file descriptor, standard error as a rule: never mixed, and never a reason to stop.
///
/// A thread of its own writes them, all that has come at once: the first one without delay, then every 5 ms for as long as more
/// come. An error is out, with all that was said before it, when `write` returns; so is everything when `flush` returns, and
/// what is left when the process dies of a fault.
///
/// A reader that stalls costs whoever logs nothing as long as there is room, then 50 ms once, and from then on nothing until it
/// reads again; a reader that went away costs nothing. What was lost meanwhile is counted, and the count is logged as soon as
/// there is room again.
public final class StandardErrorSink: LogSink {
    /// That of the process.
    public static let standard: StandardErrorSink = {
        let sink = StandardErrorSink(descriptor: STDERR_FILENO)
        atexit { StandardErrorSink.standard.flush() }
        LastWords.leave(by: sink.writer)
        return sink
    }()

    private let writer: LineWriter

    /// The descriptor stays open for as long as the sink lives; the caller closes it.
    ///
    /// - Parameter capacity: how many bytes may wait to be written.
    public init(descriptor: Int32, capacity: Int = 256 * 1_024) {
        // Otherwise the first line after the reader went away would end the process.
        signal(SIGPIPE, SIG_IGN)
        writer = LineWriter(descriptor: descriptor, capacity: capacity)
    }

    deinit { writer.stop() }

    public func write(_ entry: LogEntry) {
        writer.add(entry.line()) { lost in
            LogEntry(
                time: entry.time, level: .warning, service: entry.service, message: "log lines were lost",
                fields: [("count", .integer(Int64(lost)))], traceID: nil
            ).line()
        }
        if entry.level >= .error { writer.write() }
    }

    public func flush() { writer.write() }
}
