internal import EventSchema

/// Whom an event is about, which says where it belongs.
enum IdentityPlace: Hashable, Sendable {
    case subject(Subject)
    case user(UserID)
    case onboarding(OnboardingSessionID)

    func routingKey(by routing: Routing) -> RoutingKey {
        switch self {
        case .subject(let subject): subject.routingKey
        case .user(let id): routing.routingKey(of: id)
        case .onboarding(let id): routing.routingKey(of: id)
        }
    }

    /// As `ce_subject`.
    var text: String {
        switch self {
        case .subject(let subject): subject.base64url
        case .user(let id): id.text
        case .onboarding(let id): id.text
        }
    }
}

extension IdentityEvent {
    var place: IdentityPlace {
        switch self {
        case .contactVerified(let event): .subject(event.subject)
        case .onboardingStarted(let event): .subject(event.subject)
        case .onboardingExpired(let event): .subject(event.subject)
        case .profileUpdated(let event):
            switch event.target {
            case .user(let id): .user(id)
            case .onboarding(let id): .onboarding(id)
            }
        case .userRegistered(let event): .subject(event.subject)
        case .completionRepeated(let event): .onboarding(event.completed)
        case .sessionStarted(let event): .subject(event.subject)
        case .loginFailed(let event): .subject(event.subject)
        case .sessionRefreshed(let event): .user(event.user)
        case .refreshRepeated(let event): .user(event.user)
        case .sessionsEnded(let event): .user(event.user)
        case .passwordChanged(let event): .user(event.account.user)
        case .passwordCheckFailed(let event): .user(event.user)
        case .passwordReset(let event): .subject(event.subject)
        case .userErased(let event): .user(event.user)
        case .userDisabled(let event): .user(event.user)
        case .userEnabled(let event): .user(event.user)
        case .groupsChanged(let event): .user(event.user)
        case .userImported(let event): .subject(event.subject)
        }
    }
}
