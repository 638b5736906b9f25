import EventSchema
import VerificationDomain

/// The same rules once more, told by looking through everything that ever happened instead of by a state: slow, and too
/// simple to be wrong in the same way.
enum RulesByHistory {
    static func decide(
        _ command: Challenge.Command, after events: [Challenge.Event], rules: Challenge.Rules
    ) -> Result<Challenge.Event?, Challenge.Refusal> {
        switch command {
        case .issue(let request, let drawn, let now):
            if request.overDailyLimit { return .failure(.dailySendsUsedUp) }
            let sends = events.count { $0.issued != nil && $0.device == request.device && now - $0.time < rules.sendWindow }
            if sends >= rules.sends { return .failure(.sendsUsedUp) }
            let issued = CodeIssued(
                subject: request.subject, purpose: request.purpose, channel: request.channel,
                digest: request.decoy ? nil : drawn.digest, salt: request.decoy ? nil : drawn.salt,
                expiresAt: now + rules.lifetime,
                recipient: request.decoy ? nil : request.recipient, code: request.decoy ? nil : drawn.code,
                locale: request.locale,
                decoy: request.decoy, account: request.account, device: request.device)
            return .success(Challenge.Event(.codeIssued(issued), at: now))
        case .consume: return .failure(.unknownResetToken)
        case .confirm(_, .unreadable, _, _):
            return .failure(.unreadableCode)
        case .confirm(let request, .hmac(let hmac, _), _, let now):
            let scopes = request.device == nil ? [nil] : [request.device, nil]
            guard let device = scopes.first(where: { liveCode(of: $0, after: events, at: now) != nil }),
                let (code, attempts) = liveCode(of: device, after: events, at: now)
            else { return .failure(.noLiveCode) }
            let wrongCodes = events.count { $0.isWrongCode && $0.device == device && now - $0.time < rules.wrongCodeWindow }
            if wrongCodes >= rules.wrongCodes { return .failure(.wrongCodesUsedUp) }
            if let digest = code.digest, let salt = code.salt, digest == Digest(of: hmac.bytes + salt) {
                return .success(.confirmed(at: now, device: device))
            }
            return .success(
                attempts == rules.attempts - 1 ? .exhausted(at: now, device: device) : .missed(at: now, device: device))
        }
    }

    /// The newest code, unless it is expired or gone, and how many wrong ones were entered since.
    private static func liveCode(
        of device: Digest?, after events: [Challenge.Event], at now: Timestamp
    ) -> (code: CodeIssued, attempts: Int)? {
        let own = events.filter { $0.device == device }
        guard let index = own.lastIndex(where: { $0.issued != nil }), let code = own[index].issued, now < code.expiresAt else {
            return nil
        }
        let since = own[(index + 1)...]
        let isGone = since.contains {
            switch $0.content {
            case .codeExhausted, .codeConfirmed, .resetTokenIssued: true
            case .codeIssued, .codeMissed, .resetTokenConsumed: false
            }
        }
        return isGone ? nil : (code, since.count(where: \.isWrongCode))
    }
}
