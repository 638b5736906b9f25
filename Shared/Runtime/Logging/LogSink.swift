/// Where log entries go.
public protocol LogSink: Sendable {
    func write(_ entry: LogEntry)
}

/// Writes to nowhere.
public struct NullSink: LogSink {
    public init() {}
    public func write(_ entry: LogEntry) {}
}
