extension PostgresConnection {
    /// Takes a lock by its name, unless another session has it. It is kept until `releaseLocks`, or the end of the session.
    public func tryLock(_ name: String) throws(PostgresError) -> Bool {
        try query("SELECT pg_try_advisory_lock(hashtextextended(\(name), 0))").column(Bool.self) == [true]
    }

    /// Gives all locks back at once: that a connection has ended the server notices later, and who asks next would be refused.
    public func releaseLocks() { _ = try? query("SELECT pg_advisory_unlock_all()") }
}
