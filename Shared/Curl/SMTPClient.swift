internal import Synchronization

/// Submits messages to a mail server, over as many connections as threads call it at once. Blocks.
public final class SMTPClient: Sendable {
    private struct State {
        var idle: [SMTPSession] = []
        var isClosed = false
    }

    private let server: SMTPServer
    private let state = Mutex(State())

    public init(_ server: SMTPServer) { self.server = server }

    public func send(_ submission: SMTPSubmission) -> SMTPOutcome {
        // The connection that was used last is the least likely to have been given up.
        guard let session = state.withLock({ $0.idle.popLast() }) ?? SMTPSession(server) else { return .failed(.misconfigured) }
        let outcome = session.send(submission)
        state.withLock { if !$0.isClosed { $0.idle.append(session) } }
        return outcome
    }

    /// Says goodbye on the connections that are idle, and keeps none from now on.
    public func close() {
        let idle = state.withLock { state in
            state.isClosed = true
            defer { state.idle = [] }
            return state.idle
        }
        // Each says goodbye as it goes, which takes a moment: outside the lock.
        withExtendedLifetime(idle) {}
    }
}
