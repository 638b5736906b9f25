/// Writes what a service has to say as JSON lines. A value: cheap to copy, and `with` adds fields to all lines of a copy.
///
/// Messages are fixed texts, so that nothing personal can slip into one; what varies goes into fields, whose values are
/// classified (``LogValue``).
public struct Logger: Sendable {
    public let service: String
    public let level: LogLevel
    private let sink: any LogSink
    private let clock: @Sendable () -> Int64
    private var fields: [(name: String, value: LogValue)] = []
    private var traceID: String?

    /// - Parameter clock: milliseconds since 1970-01-01T00:00:00Z.
    public init(
        service: String, level: LogLevel = .info, sink: any LogSink = StandardErrorSink.standard,
        clock: @escaping @Sendable () -> Int64 = WallClock.now
    ) {
        self.service = service
        self.level = level
        self.sink = sink
        self.clock = clock
    }

    /// Says nothing, to nobody.
    public static let silent = Logger(service: "silent", level: .error, sink: NullSink())

    public func with(_ fields: KeyValuePairs<String, LogValue>) -> Logger {
        var copy = self
        copy.fields.append(contentsOf: fields.map { (name: $0.key, value: $0.value) })
        return copy
    }

    public func with(_ trace: TraceContext) -> Logger {
        var copy = self
        copy.traceID = trace.traceID
        return copy
    }

    /// Fields are made only where the line is written.
    public typealias Fields = KeyValuePairs<String, LogValue>

    public func debug(_ message: StaticString, _ fields: @autoclosure () -> Fields = [:]) { log(.debug, message, fields()) }
    public func info(_ message: StaticString, _ fields: @autoclosure () -> Fields = [:]) { log(.info, message, fields()) }
    public func notice(_ message: StaticString, _ fields: @autoclosure () -> Fields = [:]) { log(.notice, message, fields()) }
    public func warning(_ message: StaticString, _ fields: @autoclosure () -> Fields = [:]) { log(.warning, message, fields()) }
    public func error(_ message: StaticString, _ fields: @autoclosure () -> Fields = [:]) { log(.error, message, fields()) }

    public func log(_ level: LogLevel, _ message: StaticString, _ fields: @autoclosure () -> Fields = [:]) {
        guard level >= self.level else { return }
        var all = self.fields
        for field in fields() { all.append((name: field.key, value: field.value)) }
        sink.write(
            LogEntry(time: clock(), level: level, service: service, message: message.description, fields: all, traceID: traceID))
    }

    /// Returns once everything that was said is out: before a process ends.
    public func flush() { sink.flush() }
}
