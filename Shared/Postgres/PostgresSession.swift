/// A connection for a thread that lives long: made when it is needed, made again after it broke, with a back-off in
/// between during which every call fails at once.
public final class PostgresSession {
    /// The pause after the first failed attempt; it doubles up to `longestPause`.
    public static let shortestPause: Duration = .milliseconds(50)
    public static let longestPause: Duration = .seconds(1)

    private let configuration: PostgresConnection.Configuration
    /// The connection that was made last, if it has not been seen to break.
    public private(set) var current: PostgresConnection?
    private var pause = PostgresSession.shortestPause
    private var lastFailure: PostgresError?
    /// When the next attempt to connect may be made; `nil` when the last one succeeded.
    public private(set) var nextAttempt: ContinuousClock.Instant?
    /// How often a connection was made.
    public private(set) var connects = 0

    public init(_ configuration: PostgresConnection.Configuration) { self.configuration = configuration }

    /// The connection that works, or a new one. Throws at once while the server is known to be away.
    public func connection() throws(PostgresError) -> PostgresConnection {
        if let current, current.isAlive { return current }
        current = nil
        if let nextAttempt, let lastFailure, ContinuousClock.now < nextAttempt { throw lastFailure }
        do {
            let connection = try PostgresConnection(configuration)
            current = connection
            connects += 1
            pause = Self.shortestPause
            nextAttempt = nil
            lastFailure = nil
            return connection
        } catch {
            lastFailure = error
            // Up to half of the pause is random, so that many processes do not come back in step.
            nextAttempt = .now + pause * Double.random(in: 0.5...1)
            pause = min(pause * 2, Self.longestPause)
            throw error
        }
    }

    public func close() {
        current?.close()
        current = nil
    }
}
