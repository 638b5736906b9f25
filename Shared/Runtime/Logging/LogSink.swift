/// Where log entries go.
public protocol LogSink: Sendable {
    func write(_ entry: LogEntry)
    /// Returns once everything that was written before is out, as far as anybody takes it.
    func flush()
}

extension LogSink {
    public func flush() {}
}

/// Writes to nowhere.
public struct NullSink: LogSink {
    public init() {}
    public func write(_ entry: LogEntry) {}
}
