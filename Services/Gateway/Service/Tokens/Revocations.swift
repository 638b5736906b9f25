public import EventSchema

/// Which sessions have ended, as every gateway knows within a second.
public protocol Revocations: Sendable {
    /// Throws where it cannot be told.
    func isEnded(_ session: SessionID, of user: UserID) async throws -> Bool

    /// Waits until this gateway itself has seen the end of these sessions, or the task is cancelled.
    func settle(_ sessions: [SessionID]) async
}
