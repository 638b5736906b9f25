import CPostgres
import Glibc

/// What `NOTIFY` sent to a channel that this connection listens on.
public struct PostgresNotification: Hashable, Sendable {
    public var channel: String
    public var payload: String
    /// The server process that sent it.
    public var sender: Int32
}

extension PostgresConnection {
    /// Listens on channels, trusted names, from the commit on.
    public func listen(to channels: [String]) throws(PostgresError) {
        try batch(channels.map { SQL(unsafe: "LISTEN \"\($0)\"") })
    }

    /// Waits until notifications came, `signal` is raised, or the time is over, and returns those that came.
    public func notifications(until deadline: ContinuousClock.Instant?, or signal: WakeSignal) throws(PostgresError)
        -> [PostgresNotification]
    {
        let handle = try open()
        while true {
            if PQconsumeInput(handle) == 0 { throw broken(handle) }
            var received: [PostgresNotification] = []
            while let notification = PQnotifies(handle) {
                received.append(
                    PostgresNotification(
                        channel: String(cString: notification.pointee.relname),
                        payload: String(cString: notification.pointee.extra),
                        sender: notification.pointee.be_pid))
                PQfreemem(notification)
            }
            if !received.isEmpty { return received }
            let outcome = Readiness.wait(socket: PQsocket(handle), for: Int16(POLLIN), signal: signal, until: deadline)
            if outcome.socket == 0 { return [] }
        }
    }
}
