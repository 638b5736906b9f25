import CPostgres
import Glibc

/// One connection, used by one thread at a time; every call blocks. It comes from a `PostgresPool` as a lease, or belongs
/// to a thread that Latchkey owns.
///
/// Statements are prepared once per connection and text. Parameters and results travel in binary form.
public final class PostgresConnection {
    public struct Configuration: Sendable {
        /// libpq's keywords and values, or a URI. What it says overrides the defaults here.
        public var connectionString: String
        /// How the server's own diagnostics name this connection.
        public var applicationName: String
        /// Run-time settings of the session (`synchronous_commit`, for example).
        public var settings: [String: String] = [:]
        public var connectTimeout: Duration = .seconds(3)
        /// How long one round trip may take. After that the statement is cancelled and the connection is gone.
        public var statementTimeout: Duration = .seconds(10)

        public init(_ connectionString: String, applicationName: String) {
            self.connectionString = connectionString
            self.applicationName = applicationName
        }

        /// The same for a connection whose statements are few, repeat, and find all rows by keys: each is planned once, and alike
        /// however full the tables are and whatever is known of them. To plan them each time would take as long as they do.
        public var goingByKeys: Self {
            var configuration = self
            configuration.settings.merge([
                "jit": "off", "plan_cache_mode": "force_generic_plan", "enable_seqscan": "off", "enable_bitmapscan": "off",
                "enable_hashjoin": "off", "enable_mergejoin": "off",
            ]) { $1 }
            return configuration
        }
    }

    /// How one statement stands in the server's memory.
    struct Prepared {
        var name: String
        var lastUse: Int
    }

    struct PreparedKey: Hashable {
        var text: String
        var types: [PostgresType]
    }

    /// Raised to make the statement that runs end with `.cancelled`, from any thread.
    let interruption = WakeSignal()
    public let configuration: Configuration
    /// How long one round trip may take; at first what the configuration says.
    public var statementTimeout: Duration

    var handle: OpaquePointer?
    var prepared: [PreparedKey: Prepared] = [:]
    var preparedCount = 0
    var uses = 0
    /// A prepared statement turned out to be of a table that is no more.
    var hasStalePlans = false
    /// The server said that it ends this connection.
    var isEnding = false
    /// The statement that begins the open transaction, until it was sent along with the first one in it.
    var pendingBegin: String?
    /// How many `transaction` blocks are open, one in the other.
    var depth = 0

    /// Connects. Throws `.misconfigured` when the connection string cannot be read, otherwise `.unavailable`.
    public init(_ configuration: Configuration) throws(PostgresError) {
        self.configuration = configuration
        statementTimeout = configuration.statementTimeout
        try connect()
        do {
            try applySettings()
        } catch {
            close()
            throw error
        }
    }

    deinit { close() }

    /// Whether the connection broke or was closed: it will never work again.
    public var isBroken: Bool { handle == nil }

    /// Whether the server has not hung up, as far as the socket says without a round trip.
    public var isAlive: Bool {
        guard let handle else { return false }
        var descriptor = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
        guard poll(&descriptor, 1, 0) > 0 else { return true }
        // What comes unasked is a notification, a changed setting, or the server's last words.
        let isOpen = PQconsumeInput(handle) == 1 && PQisBusy(handle) == 0 && PQstatus(handle) == CONNECTION_OK
        if !isOpen || isEnding { close() }
        return self.handle != nil
    }

    /// The server process behind this connection.
    public var backendPID: Int32 { handle.map { PQbackendPID($0) } ?? 0 }

    public func close() {
        if let handle { PQfinish(handle) }
        handle = nil
    }

    // MARK: - Connecting

    private func connect() throws(PostgresError) {
        var fault: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(configuration.connectionString, &fault) else {
            PQfreemem(fault)  // it may quote a password
            throw PostgresError(.misconfigured, "the connection string cannot be read")
        }
        PQconninfoFree(options)

        let timeout = configuration.connectTimeout.components.seconds * 1_000
        let defaults: [(String, String)] = [
            ("fallback_application_name", configuration.applicationName),
            ("keepalives", "1"), ("keepalives_idle", "10"), ("keepalives_interval", "5"), ("keepalives_count", "3"),
            ("tcp_user_timeout", String(max(timeout, 1_000) * 4)),
            ("dbname", configuration.connectionString),
            ("client_encoding", "UTF8"),
        ]
        guard let handle = Self.start(defaults) else { throw PostgresError(.unavailable, "out of memory") }
        self.handle = handle
        PQsetNoticeReceiver(handle, noticeReceived, Unmanaged.passUnretained(self).toOpaque())
        do {
            try finishConnecting(handle)
        } catch {
            close()
            throw error
        }
    }

    private static func start(_ options: [(String, String)]) -> OpaquePointer? {
        let keywords = options.map { strdup($0.0) }
        let values = options.map { strdup($0.1) }
        defer { for text in keywords + values { free(text) } }
        return PQconnectStartParams(
            keywords.map { UnsafePointer($0) } + [nil], values.map { UnsafePointer($0) } + [nil], 1)
    }

    private func finishConnecting(_ handle: OpaquePointer) throws(PostgresError) {
        let deadline = ContinuousClock.now + configuration.connectTimeout
        guard PQstatus(handle) != CONNECTION_BAD else { throw connectionFailure(handle) }
        var state = PGRES_POLLING_WRITING
        while state != PGRES_POLLING_OK {
            guard state != PGRES_POLLING_FAILED else { throw connectionFailure(handle) }
            let events = Int16(state == PGRES_POLLING_READING ? POLLIN : POLLOUT)
            let outcome = Readiness.wait(socket: PQsocket(handle), for: events, signal: interruption, until: deadline)
            if outcome.isSignalled { throw PostgresError(.cancelled, "cancelled while connecting") }
            if outcome.socket == 0 { throw PostgresError(.unavailable, "no connection within \(configuration.connectTimeout)") }
            state = PQconnectPoll(handle)
        }
        guard PQsetnonblocking(handle, 1) == 0, PQenterPipelineMode(handle) == 1 else { throw connectionFailure(handle) }
    }

    private func applySettings() throws(PostgresError) {
        guard !configuration.settings.isEmpty else { return }
        let names = configuration.settings.keys.sorted()
        let values = names.map { configuration.settings[$0] ?? "" }
        try execute("SELECT set_config(name, value, false) FROM unnest(\(names), \(values)) AS setting(name, value)")
    }

    /// libpq's own words on one line. They name host, port, database and role.
    func connectionFailure(_ handle: OpaquePointer) -> PostgresError {
        let message = String(cString: PQerrorMessage(handle))
        return PostgresError(.unavailable, message.split(whereSeparator: \.isNewline).joined(separator: "; "))
    }
}

/// Notices are for people at a terminal; only a fatal one, which no statement of ours provoked, means something here.
private func noticeReceived(_ context: UnsafeMutableRawPointer?, _ result: OpaquePointer?) {
    guard let context, let severity = PQresultErrorField(result, Int32(UInt8(ascii: "V"))) else { return }
    guard ["FATAL", "PANIC"].contains(String(cString: severity)) else { return }
    Unmanaged<PostgresConnection>.fromOpaque(context).takeUnretainedValue().isEnding = true
}
