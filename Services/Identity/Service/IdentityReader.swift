internal import Crypto
internal import EventLog
internal import EventSchema
internal import IdentityDomain

/// Makes inputs of what stands in Identity's inboxes: opens what is sealed, and draws what the decisions may need.
struct IdentityReader: Sendable {
    let routing: Routing
    let opener: BoxOpener
    let sealer: BoxSealer
    /// Identity's own key, to seal to.
    let ownKey: @Sendable () -> RecipientKey

    private static let codec = SchemaCodec.current
    /// Verification's events that mean nothing to accounts: they are not even parsed.
    private static let meaningless = Set([MessageType.codeIssued, .codeMissed, .codeExhausted, .resetTokenIssued].map(\.name))

    func read(_ message: InboxMessage) -> Reading<IdentityInput> {
        switch message.partition.topic {
        case .verificationEvents:
            if Self.meaningless.contains(message.type) { return .ignored }
            // An event that cannot be read may be one that must be: the partition stands still, whatever is wrong with it.
            guard let event = try? Self.codec.decode(VerificationEvent.self, type: message.type, data: message.data) else {
                return .unknownType
            }
            return read(event, message)
        case .identityCommands:
            do throws(SchemaError) {
                return read(try Self.codec.decode(IdentityCommand.self, type: message.type, data: message.data), message)
            } catch {
                if case .unknownType = error { return .unknownType }
                return .malformed
            }
        default:
            return .unknownType
        }
    }

    private func read(_ event: VerificationEvent, _ message: InboxMessage) -> Reading<IdentityInput> {
        switch event {
        case .codeConfirmed(let confirmed):
            switch confirmed.purpose {
            case .emailVerification, .phoneVerification:
                let confirmation = Home.Confirmation(
                    id: message.id, command: message.causation, subject: confirmed.subject, channel: confirmed.channel,
                    confirmedAt: message.time)
                return .input(IdentityInput(.confirm(confirmation), home: confirmed.subject.routingKey))
            case .passwordReset:
                // Proves nothing until the token that it earns is used.
                return .ignored
            }
        // A check worker takes the consumed token, hashes what came with it, and sends a command.
        case .codeIssued, .codeMissed, .codeExhausted, .resetTokenIssued, .resetTokenConsumed:
            return .ignored
        }
    }

    private func read(_ command: IdentityCommand, _ message: InboxMessage) -> Reading<IdentityInput> {
        let waiting = message.replyTo.map { IdentityInput.Waiting(address: $0, command: message.id) }
        func input(_ action: Home.Action, _ home: RoutingKey) -> Reading<IdentityInput> {
            .input(IdentityInput(action, home: home, waiting: waiting))
        }
        switch command {
        case .startOnboarding(let request):
            let home = request.subject.routingKey
            return input(.startOnboarding(request, session: routing.onboardingSessionID(for: home)), home)
        case .completeOnboarding(let request): return complete(request, waiting)
        case .register(let request):
            let home = request.subject.routingKey
            let user = routing.userID(for: home)
            let (signIn, tokens) = draw(for: user, home)
            return .input(
                IdentityInput(.register(request, user: user, signIn), home: home, waiting: waiting, tokens: tokens))
        case .logIn(let request):
            let home = request.subject.routingKey
            // Where there is no account, nobody will ever get the tokens.
            let (signIn, tokens) = draw(for: request.account?.user ?? routing.userID(for: home), home)
            return .input(IdentityInput(.logIn(request, signIn), home: home, waiting: waiting, tokens: tokens))
        case .refreshSession(let request): return refresh(request, message, waiting)
        case .endSession(let request):
            return home(of: message, request.user).map { input(.endSession(request), $0) } ?? .malformed
        case .endAllSessions(let request): return input(.endAllSessions(request), routing.routingKey(of: request.user))
        case .changePassword(let request): return input(.changePassword(request), routing.routingKey(of: request.account.user))
        case .eraseUser(let request): return input(.erase(request), routing.routingKey(of: request.account.user))
        case .updateProfile(let request):
            switch request.target {
            case .user(let id): return input(.updateProfile(request), routing.routingKey(of: id))
            case .onboarding(let id): return input(.updateProfile(request), routing.routingKey(of: id))
            }
        case .finishReset(let request): return input(.finishReset(request), request.subject.routingKey)
        case .disableUser(let request): return input(.disable(request), routing.routingKey(of: request.user))
        case .enableUser(let request): return input(.enable(request), routing.routingKey(of: request.user))
        case .setGroups(let request): return input(.setGroups(request), routing.routingKey(of: request.user))
        case .importUser(let request):
            let home = request.subject.routingKey
            return input(.importUser(request, user: routing.userID(for: home)), home)
        }
    }

    /// A session's id does not say where it belongs; the record's key does, as the token said it that was presented.
    private func home(of message: InboxMessage, _ user: UserID?) -> RoutingKey? {
        user.map { routing.routingKey(of: $0) } ?? RoutingKey(bytes: message.key)
    }

    // MARK: Tokens

    private func complete(_ request: CompleteOnboarding, _ waiting: IdentityInput.Waiting?) -> Reading<IdentityInput> {
        guard let token = presented(request.token, request.digest) else { return .malformed }
        let home = routing.routingKey(of: request.session)
        let user = routing.userID(for: home)
        var (signIn, tokens) = draw(for: user, home)
        signIn.successor = tokens.successor(of: token, digest: request.digest, sealer: sealer, to: ownKey())
        return .input(
            IdentityInput(
                .complete(request, user: user, signIn), home: home, waiting: waiting, tokens: tokens,
                presented: .init(token: token, digest: request.digest)))
    }

    private func refresh(
        _ request: RefreshSession, _ message: InboxMessage, _ waiting: IdentityInput.Waiting?
    ) -> Reading<IdentityInput> {
        guard let token = presented(request.token, request.digest), let home = RoutingKey(bytes: message.key) else {
            return .malformed
        }
        let next = routing.token(kind: .refresh, reference: request.session.bytes, for: home)
        let tokens = SignInTokens(refresh: next.text)
        guard let successor = tokens.successor(of: token, digest: request.digest, sealer: sealer, to: ownKey()) else {
            return .malformed
        }
        return .input(
            IdentityInput(
                .refresh(request, next: next.digest, successor: successor), home: home, waiting: waiting, tokens: tokens,
                presented: .init(token: token, digest: request.digest)))
    }

    private func presented(_ box: Box, _ digest: Digest) -> [UInt8]? {
        guard let token = opener.open(box, context: SealingContext.token(digest: digest)), Digest(of: token).matches(digest)
        else {
            return nil
        }
        return token
    }

    private func draw(for user: UserID, _ home: RoutingKey) -> (Home.SignIn, SignInTokens) {
        let session = SessionID.random()
        let refresh = routing.token(kind: .refresh, reference: session.bytes, for: home)
        let device = routing.token(kind: .device, reference: user.bytes, for: home)
        return (
            Home.SignIn(session: session, refresh: refresh.digest, device: device.digest),
            SignInTokens(refresh: refresh.text, device: device.text)
        )
    }
}
