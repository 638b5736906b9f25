import EventLog
import EventSchema

/// The sessions that an event of Identity ends.
enum EndedSessions {
    private static let codec = SchemaCodec.current
    /// The most frequent types that end nothing: they are not even parsed.
    private static let harmless = Set([MessageType.contactVerified, .sessionRefreshed, .loginFailed].map(\.name))

    /// Fails with `.unreadable` for an event that this version does not know: it may end a session.
    static func named(in envelope: EventEnvelope) throws(LogError) -> [SessionID] {
        // What the log itself writes into chains.
        if envelope.isOfLog || harmless.contains(envelope.body.type) {
            return []
        }
        let event: IdentityEvent
        do throws(SchemaError) {
            event = try codec.decode(IdentityEvent.self, type: envelope.body.type, data: envelope.body.data)
        } catch {
            throw LogError(.unreadable, "\(envelope.partition) offset \(envelope.offset): \(error)")
        }
        return switch event {
        case .sessionsEnded(let event): event.sessions
        case .sessionStarted(let event): event.ended
        case .passwordChanged(let event): event.ended
        case .passwordCheckFailed(let event): event.ended ? [event.session] : []
        case .passwordReset(let event): event.ended
        case .userErased(let event): event.ended
        case .userDisabled(let event): event.ended
        case .contactVerified, .onboardingStarted, .onboardingExpired, .profileUpdated, .userRegistered, .completionRepeated,
            .loginFailed, .sessionRefreshed, .refreshRepeated, .userEnabled, .groupsChanged, .userImported:
            []
        }
    }
}
