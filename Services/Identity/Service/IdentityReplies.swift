internal import Crypto
internal import EventSchema
internal import IdentityDomain
internal import JSON

/// Puts into an event what its answer tells in secret, sealed to the waiting gateway process, so that every owner that reads the
/// event can repeat the answer and nobody can open it later.
struct IdentityReplies: Sendable {
    let minting: any TokenMinting
    let opener: BoxOpener
    let sealer: BoxSealer

    /// `nil` where the tokens to be repeated cannot be read any more.
    func completed(_ event: IdentityEvent, _ input: IdentityInput, _ home: Home.State, at now: Timestamp) -> IdentityEvent? {
        switch event {
        case .onboardingStarted(var started):
            if let waiting = input.waiting {
                let token = minting.onboardingToken(started.session, issuedAt: now, expiresAt: started.expiresAt)
                started.reply = seal(["onboardingToken": .string(token)], to: waiting)
            }
            return .onboardingStarted(started)
        case .userRegistered(var registered):
            registered.reply = reply(
                input.tokens, registered.user.user, registered.session.session, registered.user.groups, since: now, input, now)
            return .userRegistered(registered)
        case .sessionStarted(var started):
            var tokens = input.tokens
            if !started.session.isNewDevice { tokens?.device = nil }
            started.reply = reply(
                tokens, started.user.user, started.session.session, started.user.groups, since: now, input, now)
            return .sessionStarted(started)
        case .sessionRefreshed(var refreshed):
            refreshed.reply = reply(input.tokens, refreshed.user, refreshed.session, home, input, now)
            return .sessionRefreshed(refreshed)
        case .refreshRepeated(var repeated):
            guard let tokens = again(home.sessions[repeated.session]?.previous?.successor, input) else { return nil }
            repeated.reply = reply(tokens, repeated.user, repeated.session, home, input, now)
            return .refreshRepeated(repeated)
        case .completionRepeated(var repeated):
            guard let tokens = again(home.onboarding[repeated.completed]?.completion?.successor, input) else { return nil }
            repeated.reply = reply(tokens, repeated.user.user, repeated.session, home, input, now)
            return .completionRepeated(repeated)
        default:
            return event
        }
    }

    private func again(_ successor: Box?, _ input: IdentityInput) -> SignInTokens? {
        guard let successor, let presented = input.presented else { return nil }
        return SignInTokens(successor: successor, of: presented.token, digest: presented.digest, opener: opener)
    }

    private func reply(
        _ tokens: SignInTokens?, _ user: UserID, _ session: SessionID, _ home: Home.State, _ input: IdentityInput,
        _ now: Timestamp
    ) -> Box? {
        reply(
            tokens, user, session, home.users[user]?.groups ?? [], since: home.sessions[session]?.startedAt ?? now, input, now)
    }

    private func reply(
        _ tokens: SignInTokens?, _ user: UserID, _ session: SessionID, _ groups: [String], since start: Timestamp,
        _ input: IdentityInput, _ now: Timestamp
    ) -> Box? {
        guard let waiting = input.waiting, let tokens else { return nil }
        let claims = AccessClaims(user: user, session: session, authenticatedAt: start, groups: groups, issuedAt: now)
        var members: JSONObject = [
            "accessToken": .string(minting.accessToken(claims)), "refreshToken": .string(tokens.refresh),
            "expiresIn": .integer(minting.accessLifetime.milliseconds / 1_000),
        ]
        if let device = tokens.device { members["deviceToken"] = .string(device) }
        return seal(members, to: waiting)
    }

    private func seal(_ members: JSONObject, to waiting: IdentityInput.Waiting) -> Box? {
        // It fails for a malformed address only, where nobody could open it.
        try? sealer.seal(
            JSON.object(members).serialized(), to: waiting.address.recipient, context: SealingContext.reply(to: waiting.command))
    }
}
