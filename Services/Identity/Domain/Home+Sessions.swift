internal import EventSchema

/// Refreshing and ending sessions.
extension Home.State {
    /// The token has a valid tag: it was issued for this session. So one that is neither the present one nor the one before it
    /// is an old one, and somebody has a copy.
    func refresh(
        _ request: RefreshSession, _ next: Digest, _ successor: SealedBox, at now: Timestamp
    ) throws(Home.Refusal) -> IdentityEvent {
        guard let session = sessions[request.session], session.isLive(at: now), users[session.user]?.isDisabled == false else {
            throw .refreshTokenInvalid
        }
        if session.refresh.matches(request.digest) {
            return .sessionRefreshed(
                SessionRefreshed(user: session.user, session: request.session, refresh: next, successor: successor))
        }
        if let previous = session.previous, previous.refresh.matches(request.digest), session.refreshedAt <= now,
            now <= session.refreshedAt + Home.refreshGrace
        {
            return .refreshRepeated(RefreshRepeated(user: session.user, session: request.session))
        }
        return .sessionsEnded(SessionsEnded(user: session.user, sessions: [request.session], reason: .reuse))
    }

    func endSession(_ request: EndSession, at now: Timestamp) throws(Home.Refusal) -> IdentityEvent {
        guard let session = sessions[request.session], session.isLive(at: now),
            request.user == nil || request.user == session.user
        else { throw request.reason == .revoked ? .notFound : .alreadySo }
        return .sessionsEnded(SessionsEnded(user: session.user, sessions: [request.session], reason: request.reason))
    }

    func endAllSessions(_ request: EndAllSessions, at now: Timestamp) throws(Home.Refusal) -> IdentityEvent {
        if let own = request.session, liveSession(own, of: request.user, at: now) == nil { throw .unauthenticated }
        let sessions = sessions(of: request.user)
        guard !sessions.isEmpty else { throw .alreadySo }
        return .sessionsEnded(SessionsEnded(user: request.user, sessions: sessions, reason: request.reason))
    }
}
