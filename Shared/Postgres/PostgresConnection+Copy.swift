import CPostgres
import Glibc

extension PostgresConnection {
    /// Copies rows into a table: many times as fast as INSERT. Outside of `transaction` it is a transaction of its own.
    ///
    /// - Parameters:
    ///   - table: a trusted name.
    ///   - columns: trusted names, in the order of the values in each row.
    public func copy(_ rows: CopyRows, into table: String, columns: [String]) throws(PostgresError) {
        if rows.count == 0 { return }
        if pendingBegin != nil { try batch(["SELECT 1"]) }
        let handle = try open()
        let deadline = ContinuousClock.now + statementTimeout
        let statement = "COPY \(table) (\(columns.joined(separator: ", "))) FROM STDIN (FORMAT binary)"
        guard PQexitPipelineMode(handle) == 1, PQsendQuery(handle, statement) == 1 else { throw broken(handle) }
        var failure: PostgresError?
        try pump(handle, until: deadline)
        if let result = PQgetResult(handle) {
            defer { PQclear(result) }
            if PQresultStatus(result) == PGRES_COPY_IN {
                for part in [CopyRows.header, rows.bytes, CopyRows.trailer] { try send(part, over: handle, until: deadline) }
                while true {
                    let accepted = PQputCopyEnd(handle, nil)
                    guard accepted >= 0 else { throw broken(handle) }
                    try flush(handle, until: deadline)
                    if accepted == 1 { break }
                }
            } else {
                failure = Self.refusal(result)
            }
        }
        while true {
            try pump(handle, until: deadline)
            guard let result = PQgetResult(handle) else { break }
            defer { PQclear(result) }
            if PQstatus(handle) == CONNECTION_BAD { throw broken(handle) }
            if PQresultStatus(result) == PGRES_FATAL_ERROR { failure = failure ?? Self.refusal(result) }
        }
        guard PQenterPipelineMode(handle) == 1 else { throw broken(handle) }
        if let failure { throw failure }
    }

    /// So much is handed to libpq at once, which keeps it until it is sent.
    private static let piece = 256 << 10

    private func send(
        _ bytes: [UInt8], over handle: OpaquePointer, until deadline: ContinuousClock.Instant
    ) throws(PostgresError) {
        var sent = 0
        while sent < bytes.count {
            let count = min(Self.piece, bytes.count - sent)
            let accepted = bytes.withUnsafeBufferPointer { buffer in
                (buffer.baseAddress! + sent).withMemoryRebound(to: CChar.self, capacity: count) {
                    PQputCopyData(handle, $0, Int32(count))
                }
            }
            guard accepted >= 0 else { throw broken(handle) }
            if accepted == 1 { sent += count }
            try flush(handle, until: deadline)
        }
    }

    /// Sends what is queued, and takes in what the server says meanwhile.
    private func flush(_ handle: OpaquePointer, until deadline: ContinuousClock.Instant) throws(PostgresError) {
        while true {
            let unsent = PQflush(handle)
            guard unsent >= 0 else { throw broken(handle) }
            if unsent == 0 { return }
            let outcome = Readiness.wait(
                socket: PQsocket(handle), for: Int16(POLLIN | POLLOUT), signal: interruption, until: deadline)
            if outcome.isSignalled || outcome.socket == 0 {
                close()
                throw outcome.isSignalled
                    ? PostgresError(.cancelled, "cancelled while rows were copied")
                    : PostgresError(.timedOut, "rows were not taken within \(statementTimeout)")
            }
            if outcome.socket & Int16(POLLIN) != 0, PQconsumeInput(handle) == 0 { throw broken(handle) }
        }
    }
}
