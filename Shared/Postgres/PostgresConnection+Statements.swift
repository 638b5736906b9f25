import CPostgres
import Glibc
import Runtime

extension PostgresConnection {
    /// Runs one statement. Outside of `transaction` it is a transaction of its own.
    @discardableResult
    public func query(_ sql: SQL) throws(PostgresError) -> PostgresRows { try batch([sql])[0] }

    /// Runs one statement and gives the number of rows that it touched.
    @discardableResult
    public func execute(_ sql: SQL) throws(PostgresError) -> Int { try batch([sql])[0].affected }

    /// Runs several statements in one round trip. Outside of `transaction` they are one transaction: all or none. Inside,
    /// they belong to it. The results come in the order of the statements.
    @discardableResult
    public func batch(_ statements: [SQL]) throws(PostgresError) -> [PostgresRows] {
        guard !statements.isEmpty else { return [] }
        do {
            return try roundTrip(statements)
        } catch let error where error.isStalePlan {
            hasStalePlans = true
            guard depth == 0 else { throw error }
            forgetStalePlans()
            return try roundTrip(statements)
        }
    }

    /// Runs a script of trusted statements without parameters, separated by semicolons. Outside of `transaction` they are
    /// one transaction.
    public func script(_ text: String) throws(PostgresError) {
        if pendingBegin != nil { try batch(["SELECT 1"]) }
        let handle = try open()
        guard PQexitPipelineMode(handle) == 1, PQsendQuery(handle, text) == 1 else { throw broken(handle) }
        let deadline = ContinuousClock.now + statementTimeout
        var failure: PostgresError?
        while true {
            try pump(handle, until: deadline)
            guard let result = PQgetResult(handle) else { break }
            defer { PQclear(result) }
            if PQstatus(handle) == CONNECTION_BAD { throw broken(handle) }
            switch PQresultStatus(result) {
            case PGRES_FATAL_ERROR: failure = failure ?? Self.refusal(result)
            case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH: throw discarded(.misconfigured, "COPY is not supported")
            default: break
            }
        }
        guard PQenterPipelineMode(handle) == 1 else { throw broken(handle) }
        if let failure { throw failure }
    }

    // MARK: - One round trip

    func open() throws(PostgresError) -> OpaquePointer {
        guard let handle else { throw PostgresError(.closed, "the connection is closed") }
        return handle
    }

    private static let keptStatements = 256

    private func roundTrip(_ statements: [SQL]) throws(PostgresError) -> [PostgresRows] {
        let handle = try open()
        /// What the server answers to, in order. `nil` is an answer that nobody asked for.
        var expected: [(statement: Int?, prepares: PreparedKey?)] = []

        if prepared.count > Self.keptStatements, depth == 0,
            let victim = prepared.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            prepared[victim.key] = nil
            try check(PQsendQueryParams(handle, "DEALLOCATE \(victim.value.name)", 0, nil, nil, nil, nil, 1), handle)
            expected.append((nil, nil))
        }
        if let begin = pendingBegin {
            try check(PQsendQueryParams(handle, begin, 0, nil, nil, nil, nil, 1), handle)
            expected.append((nil, nil))
            pendingBegin = nil
        }
        var names: [PreparedKey: String] = [:]
        for (index, statement) in statements.enumerated() {
            let key = PreparedKey(text: statement.text, types: statement.binds.map(\.type))
            uses += 1
            let name: String
            if let known = prepared[key] {
                prepared[key]?.lastUse = uses
                name = known.name
            } else if let fresh = names[key] {
                name = fresh
            } else {
                preparedCount += 1
                name = "s\(preparedCount)"
                names[key] = name
                try check(PQsendPrepare(handle, name, key.text, Int32(key.types.count), key.types.map(\.oid)), handle)
                expected.append((nil, key))
            }
            try check(send(statement.binds, to: name, handle), handle)
            expected.append((index, nil))
        }
        try check(PQpipelineSync(handle), handle)
        return try collect(expected, names: names, handle)
    }

    private func collect(
        _ expected: [(statement: Int?, prepares: PreparedKey?)], names: [PreparedKey: String], _ handle: OpaquePointer
    ) throws(PostgresError) -> [PostgresRows] {
        let deadline = ContinuousClock.now + statementTimeout
        var rows: [PostgresRows] = []
        var failure: PostgresError?
        var next = 0
        var silences = 0
        while true {
            try pump(handle, until: deadline)
            guard let result = PQgetResult(handle) else {
                // The end of one statement's results. Two in a row would mean that libpq and we have lost each other.
                silences += 1
                if PQstatus(handle) == CONNECTION_BAD || silences > 2 { throw broken(handle) }
                continue
            }
            silences = 0
            let status = PQresultStatus(result)
            if status == PGRES_PIPELINE_SYNC {
                PQclear(result)
                break
            }
            guard PQstatus(handle) != CONNECTION_BAD, next < expected.count else {
                let error = Self.refusal(result)
                PQclear(result)
                let lost = broken(handle)
                throw error.state == nil ? lost : PostgresError(.unavailable, state: error.state, error.reason)
            }
            let (statement, prepares) = expected[next]
            next += 1
            switch status {
            case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY:
                if let prepares { prepared[prepares] = Prepared(name: names[prepares] ?? "", lastUse: uses) }
                if statement != nil { rows.append(PostgresRows(result)) } else { PQclear(result) }
            case PGRES_PIPELINE_ABORTED:
                PQclear(result)
            case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH:
                PQclear(result)
                throw discarded(.misconfigured, "COPY is not supported")
            default:
                failure = failure ?? Self.refusal(result)
                PQclear(result)
            }
        }
        if let failure { throw failure }
        return rows
    }

    /// All parameters lie in one buffer; libpq copies them into its own before it returns.
    private func send(_ binds: [SQL.Bind], to name: String, _ handle: OpaquePointer) -> Int32 {
        if binds.isEmpty { return PQsendQueryPrepared(handle, name, 0, nil, nil, nil, 1) }
        let total = binds.reduce(0) { $0 + ($1.bytes?.count ?? 0) }
        return withUnsafeTemporaryAllocation(byteCount: max(total, 1), alignment: 1) { buffer in
            var values: [UnsafePointer<CChar>?] = []
            var lengths: [Int32] = []
            var offset = 0
            for bind in binds {
                guard let bytes = bind.bytes else {
                    values.append(nil)
                    lengths.append(0)
                    continue
                }
                let start = min(offset, buffer.count - 1)
                values.append(UnsafePointer((buffer.baseAddress! + start).assumingMemoryBound(to: CChar.self)))
                lengths.append(Int32(bytes.count))
                bytes.withUnsafeBytes { source in
                    if let base = source.baseAddress {
                        (buffer.baseAddress! + offset).copyMemory(from: base, byteCount: source.count)
                    }
                }
                offset += bytes.count
            }
            let formats = [Int32](repeating: 1, count: binds.count)
            return PQsendQueryPrepared(handle, name, Int32(binds.count), values, lengths, formats, 1)
        }
    }

    private func check(_ accepted: Int32, _ handle: OpaquePointer) throws(PostgresError) {
        guard accepted == 1 else { throw broken(handle) }
    }

    /// Sends what is queued and reads until a result is complete.
    func pump(_ handle: OpaquePointer, until deadline: ContinuousClock.Instant) throws(PostgresError) {
        while true {
            let unsent = PQflush(handle)
            if PQisBusy(handle) == 0 { return }
            let events = Int16(unsent == 1 ? POLLIN | POLLOUT : POLLIN)
            let outcome = Readiness.wait(socket: PQsocket(handle), for: events, signal: interruption, until: deadline)
            if outcome.isSignalled {
                cancel(handle)
                throw discarded(.cancelled, "cancelled while a statement was running")
            }
            if outcome.socket == 0 {
                cancel(handle)
                throw discarded(.timedOut, "no answer within \(statementTimeout)")
            }
            if PQconsumeInput(handle) == 0 { throw broken(handle) }
        }
    }

    /// Asks the server to stop the statement that runs, so that it does not work on for nobody. libpq waits for the server
    /// here without a limit: a thread of its own does that, as the server may be what hangs.
    private func cancel(_ handle: OpaquePointer) {
        guard let request = PQgetCancel(handle) else { return }
        let address = UInt(bitPattern: request)
        OwnedThread.start(name: "pg-cancel") {
            let request = OpaquePointer(bitPattern: address)
            var message = [CChar](repeating: 0, count: 256)
            _ = PQcancel(request, &message, Int32(message.count))
            PQfreeCancel(request)
        }
    }

    // MARK: - Failures

    func broken(_ handle: OpaquePointer) -> PostgresError {
        let error = connectionFailure(handle)
        close()
        return error
    }

    private func discarded(_ code: PostgresError.Code, _ reason: String) -> PostgresError {
        close()
        return PostgresError(code, reason)
    }

    /// A table was replaced under a prepared statement: everything is prepared anew, outside of any transaction.
    func forgetStalePlans() {
        guard hasStalePlans else { return }
        hasStalePlans = false
        prepared = [:]
        // Without a connection there is nothing to forget.
        _ = try? script("DEALLOCATE ALL")
    }

    static func refusal(_ result: OpaquePointer) -> PostgresError {
        func field(_ code: Character) -> String? {
            PQresultErrorField(result, Int32(code.asciiValue ?? 0)).map { String(cString: $0) }
        }
        let state = field("C").map(SQLState.init(rawValue:))
        let names = [("schema", "s"), ("table", "t"), ("column", "c"), ("type", "d")].compactMap { name, code in
            field(Character(code)).map { "\(name) \($0)" }
        }
        let message = state?.hasHarmlessMessage == true ? field("M") : nil
        let reason = ([message].compactMap { $0 } + names).joined(separator: ", ")
        return PostgresError(.refused, state: state, constraint: field("n"), reason)
    }
}
