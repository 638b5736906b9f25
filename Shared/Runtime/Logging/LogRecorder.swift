import Synchronization

/// Keeps log entries in memory, for tests.
public final class LogRecorder: LogSink {
    private let recorded = Mutex<[LogEntry]>([])

    public init() {}

    public func write(_ entry: LogEntry) { recorded.withLock { $0.append(entry) } }

    public var entries: [LogEntry] { recorded.withLock { $0 } }

    /// The lines as they would have been written, for searching them for what must not stand there.
    public var text: String { String(decoding: entries.flatMap { $0.line() }, as: UTF8.self) }
}
