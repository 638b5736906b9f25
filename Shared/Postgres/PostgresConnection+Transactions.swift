import CPostgres

/// How a transaction runs.
public struct PostgresTransaction: Hashable, Sendable {
    public enum Isolation: String, Sendable {
        case readCommitted = "READ COMMITTED"
        case repeatableRead = "REPEATABLE READ"
        case serializable = "SERIALIZABLE"
    }

    public var isolation: Isolation
    public var isReadOnly: Bool

    public init(isolation: Isolation = .readCommitted, isReadOnly: Bool = false) {
        self.isolation = isolation
        self.isReadOnly = isReadOnly
    }

    public static let `default` = PostgresTransaction()

    var begin: String { "BEGIN ISOLATION LEVEL \(isolation.rawValue)" + (isReadOnly ? " READ ONLY" : "") }
}

extension PostgresConnection {
    /// Whether no transaction is open.
    var isIdle: Bool { handle.map { PQtransactionStatus($0) == PQTRANS_IDLE } ?? false }

    /// Runs `body` in a transaction: committed when it returns, rolled back when it throws. `BEGIN` travels with the first
    /// statement, and a transaction without statements costs nothing. One inside another is a savepoint.
    ///
    /// Where all statements are known beforehand, `batch` is the same in one round trip.
    @discardableResult
    public func transaction<Value>(
        _ mode: PostgresTransaction = .default, _ body: (PostgresConnection) throws -> Value
    ) throws -> Value {
        let isOuter = depth == 0
        if isOuter { forgetStalePlans() }
        if isOuter { pendingBegin = mode.begin } else { try batch([SQL(unsafe: "SAVEPOINT p\(depth)")]) }
        depth += 1
        let value: Value
        do {
            value = try body(self)
        } catch {
            depth -= 1
            rollBack(isOuter)
            throw error
        }
        depth -= 1
        if isOuter { try commit() } else { try batch([SQL(unsafe: "RELEASE SAVEPOINT p\(depth)")]) }
        return value
    }

    private func commit() throws(PostgresError) {
        if pendingBegin != nil {
            pendingBegin = nil
            return
        }
        // The server answers ROLLBACK where the body went on after a failed statement.
        let rows = try query("COMMIT")
        guard rows.command == "COMMIT" else {
            throw PostgresError(.refused, state: .failedTransaction, "a statement of the transaction had failed: rolled back")
        }
    }

    /// The error that led here matters more than one of the roll-back; a connection that cannot roll back is closed.
    private func rollBack(_ isOuter: Bool) {
        if isOuter, pendingBegin != nil {
            pendingBegin = nil
            return
        }
        guard !isBroken else { return }
        do {
            try batch([isOuter ? "ROLLBACK" : SQL(unsafe: "ROLLBACK TO SAVEPOINT p\(depth)")])
        } catch {
            close()
        }
    }
}
