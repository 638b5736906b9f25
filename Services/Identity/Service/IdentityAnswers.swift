internal import EventLog
internal import EventSchema
internal import IdentityDomain
internal import JSON

/// What gateways are told, by what happened or why nothing did.
enum IdentityAnswers {
    static func reply(to event: IdentityEvent) -> Reply? {
        switch event {
        case .contactVerified: ok
        case .onboardingStarted(let event):
            Reply(
                outcome: .ok,
                data: [
                    "session": OnboardingSummary(
                        session: event.session, channel: event.channel, verifiedAt: event.verifiedAt, expiresAt: event.expiresAt
                    ).answer
                ], boxes: boxes(event.reply))
        case .profileUpdated(let event):
            if let summary = event.onboarding {
                Reply(outcome: .ok, data: ["session": summary.answer], boxes: boxes(event.person))
            } else {
                event.user.map { Reply(outcome: .ok, data: ["user": $0.answer], boxes: boxes(event.person)) }
            }
        case .userRegistered(let event):
            Reply(outcome: .ok, data: ["user": event.user.answer], boxes: boxes(event.reply, event.person))
        case .completionRepeated(let event):
            Reply(outcome: .ok, data: ["user": event.user.answer], boxes: boxes(event.reply, event.person))
        case .sessionStarted(let event):
            Reply(outcome: .ok, data: ["user": event.user.answer], boxes: boxes(event.reply, event.person))
        case .loginFailed(let event):
            if let seconds = event.retryAfter { blocked(seconds) } else { Reply(outcome: .invalidCredentials) }
        case .sessionRefreshed(let event): Reply(outcome: .ok, boxes: boxes(event.reply))
        case .refreshRepeated(let event): Reply(outcome: .ok, boxes: boxes(event.reply))
        case .sessionsEnded(let event): event.reason == .reuse ? Reply(outcome: .refreshTokenInvalid) : ended(event.sessions)
        case .passwordChanged(let event): ended(event.ended)
        case .passwordCheckFailed(let event):
            Reply(
                outcome: .invalidCredentials,
                data: ["ended": .array(event.ended ? [.string(event.session.text)] : [])])
        case .passwordReset(let event): ended(event.ended)
        case .userErased(let event): ended(event.ended)
        case .userDisabled(let event): ended(event.ended)
        case .userEnabled, .groupsChanged: ok
        case .userImported(let event): Reply(outcome: .ok, data: ["user": event.user.answer])
        // Nobody asked for it.
        case .onboardingExpired: nil
        }
    }

    static func reply(to refusal: Home.Refusal) -> Reply {
        switch refusal {
        case .alreadySo: ok
        case .stale: Reply(outcome: .stale)
        case .accountExists: Reply(outcome: .accountExists)
        case .confirmationUnknown: Reply(outcome: .invalidOTP)
        case .proofRequired: Reply(outcome: .forbidden)
        case .unauthenticated: Reply(outcome: .unauthenticated)
        case .onboardingCompleted: Reply(outcome: .onboardingCompleted)
        case .blocked(let seconds): blocked(Int64(seconds))
        case .refreshTokenInvalid: Reply(outcome: .refreshTokenInvalid)
        case .resetTokenInvalid: Reply(outcome: .resetTokenInvalid)
        case .notFound: Reply(outcome: .notFound)
        }
    }

    private static let ok = Reply(outcome: .ok)

    private static func blocked(_ seconds: Int64) -> Reply {
        Reply(outcome: .rateLimited, data: ["retryAfter": .integer(seconds)])
    }

    /// The gateway answers once it has seen these sessions end itself.
    private static func ended(_ sessions: [SessionID]) -> Reply {
        Reply(outcome: .ok, data: ["ended": .array(sessions.map { .string($0.text) })])
    }

    private static func boxes(_ boxes: SealedBox?...) -> [SealedBox] { boxes.compactMap { $0 } }
}

/// Refusals as they stand in the log.
extension Home.Refusal {
    var code: String {
        switch self {
        case .alreadySo: "already-so"
        case .stale: "stale"
        case .accountExists: "account-exists"
        case .confirmationUnknown: "confirmation-unknown"
        case .proofRequired: "proof-required"
        case .unauthenticated: "unauthenticated"
        case .onboardingCompleted: "onboarding-completed"
        case .blocked(let seconds): "\(Self.blocked)\(seconds)"
        case .refreshTokenInvalid: "refresh-token-invalid"
        case .resetTokenInvalid: "reset-token-invalid"
        case .notFound: "not-found"
        }
    }

    init?(code: String) {
        if code.hasPrefix(Self.blocked), let seconds = Int(code.dropFirst(Self.blocked.count)) {
            self = .blocked(seconds: seconds)
            return
        }
        guard let refusal = Self.plain.first(where: { $0.code == code }) else { return nil }
        self = refusal
    }

    private static let blocked = "blocked-"

    /// All but the one that says a number.
    static let plain: [Home.Refusal] = [
        .alreadySo, .stale, .accountExists, .confirmationUnknown, .proofRequired, .unauthenticated, .onboardingCompleted,
        .refreshTokenInvalid, .resetTokenInvalid, .notFound,
    ]
}
