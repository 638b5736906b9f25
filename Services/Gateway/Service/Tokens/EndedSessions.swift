import EventLog
import EventSchema

/// The sessions that an event of Identity ends, and whose they are.
struct EndedSessions {
    var user: UserID
    var sessions: [SessionID]

    private static let codec = SchemaCodec.current
    /// The most frequent types that end nothing: they are not even parsed.
    private static let harmless = Set([MessageType.contactVerified, .sessionRefreshed, .loginFailed].map(\.name))

    /// `nil` where nothing ends. Fails with `.unreadable` for an event that this version does not know: it may end a session.
    init?(in envelope: EventEnvelope) throws(LogError) {
        if envelope.saysNothing || Self.harmless.contains(envelope.body.type) { return nil }
        let event: IdentityEvent
        do throws(SchemaError) {
            event = try Self.codec.decode(IdentityEvent.self, type: envelope.body.type, data: envelope.body.data)
        } catch {
            throw LogError(.unreadable, "\(envelope.partition) offset \(envelope.offset): \(error)")
        }
        switch event {
        case .sessionsEnded(let event): (user, sessions) = (event.user, event.sessions)
        case .sessionStarted(let event): (user, sessions) = (event.user.user, event.ended)
        case .passwordChanged(let event): (user, sessions) = (event.account.user, event.ended)
        case .passwordCheckFailed(let event): (user, sessions) = (event.user, event.ended ? [event.session] : [])
        case .passwordReset(let event): (user, sessions) = (event.account.user, event.ended)
        case .userErased(let event): (user, sessions) = (event.user, event.ended)
        case .userDisabled(let event): (user, sessions) = (event.user, event.ended)
        case .contactVerified, .onboardingStarted, .onboardingExpired, .profileUpdated, .userRegistered, .completionRepeated,
            .loginFailed, .sessionRefreshed, .refreshRepeated, .userEnabled, .groupsChanged, .userImported:
            return nil
        }
    }
}
