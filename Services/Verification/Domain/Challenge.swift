public import EventSchema

/// One-time codes for one identifier and one purpose: at most one code that everybody may enter, and one for each device
/// that is known to belong to the account.
///
/// A device has code, sends and wrong codes of its own, so that strangers can neither replace its code nor use up its
/// budgets. A device without a live code of its own enters the one of everybody, in everybody's budgets: the code may have
/// been asked for before the device was known.
public enum Challenge: Decider {
    public struct Key: Hashable, Sendable {
        public var subject: Subject
        public var purpose: Purpose

        public init(subject: Subject, purpose: Purpose) {
            self.subject = subject
            self.purpose = purpose
        }
    }

    public enum Command: Sendable {
        case issue(IssueCode, DrawnCode, at: Timestamp)
        /// `token` is what the right code earns, where it is one for a reset.
        case confirm(ConfirmCode, EnteredCode, token: DrawnResetToken? = nil, at: Timestamp)
        case consume(ConsumeResetToken, at: Timestamp)
    }

    public struct Event: Equatable, Sendable {
        public var content: VerificationEvent
        /// The time of the decision.
        public var time: Timestamp

        public init(_ content: VerificationEvent, at time: Timestamp) {
            self.content = content
            self.time = time
        }
    }

    /// Nothing happened. The codes stand in the log.
    public enum Refusal: String, Error, Sendable, CaseIterable {
        /// The command was marked: the identifier has had its sends of the day.
        case dailySendsUsedUp = "daily-sends-used-up"
        case sendsUsedUp = "sends-used-up"
        /// No code is live: expired, used, replaced, never sent. It costs nothing.
        case noLiveCode = "no-live-code"
        /// The box with the entered code cannot be opened; it costs nothing.
        case unreadableCode = "unreadable-code"
        /// There were as many wrong codes as one hour may see: the live code is not even looked at.
        case wrongCodesUsedUp = "wrong-codes-used-up"
        /// The reset token is not the one that is live: expired, used, replaced, never issued.
        case unknownResetToken = "unknown-reset-token"
    }

    public static var initial: State { State() }

    public static func decide(_ command: Command, given state: State) throws(Refusal) -> Event? {
        switch command {
        case .issue(let request, let drawn, let now):
            Event(.codeIssued(try issue(request, drawn, at: now, given: state)), at: now)
        case .confirm(let request, .hmac(let hmac, let others), let token, let now):
            Event(try confirm(request, [hmac] + others, token, at: now, given: state), at: now)
        case .confirm(_, .unreadable, _, _):
            throw .unreadableCode
        case .consume(let request, let now):
            Event(.resetTokenConsumed(try consume(request, at: now, given: state)), at: now)
        }
    }

    private static func issue(
        _ request: IssueCode, _ drawn: DrawnCode, at now: Timestamp, given state: State
    ) throws(Refusal) -> CodeIssued {
        let rules = state.rules
        guard !request.overDailyLimit else { throw .dailySendsUsedUp }
        guard state[request.device].sends.count(within: rules.sendWindow, of: now) < rules.sends else { throw .sendsUsedUp }
        // A decoy differs in what nobody sees: it has no code, and nowhere to send it.
        return CodeIssued(
            subject: request.subject, purpose: request.purpose, channel: request.channel,
            digest: request.decoy ? nil : drawn.digest, salt: request.decoy ? nil : drawn.salt,
            expiresAt: now + rules.lifetime, recipient: request.decoy ? nil : request.recipient,
            code: request.decoy ? nil : drawn.code, locale: request.locale, decoy: request.decoy, account: request.account,
            device: request.device)
    }

    private static func confirm(
        _ request: ConfirmCode, _ hmacs: [Digest], _ token: DrawnResetToken?, at now: Timestamp, given state: State
    ) throws(Refusal) -> VerificationEvent {
        let rules = state.rules
        let (subject, purpose) = (request.subject, request.purpose)
        // The device's own code first, then the one of everybody.
        let device = state[request.device].liveCode(at: now) == nil ? nil : request.device
        let scope = state[device]
        // A code for an account that is another by now, or has another password, is none.
        guard let code = scope.liveCode(at: now), code.account == request.account else { throw .noLiveCode }
        guard scope.wrongCodes.count(within: rules.wrongCodeWindow, of: now) < rules.wrongCodes else { throw .wrongCodesUsedUp }
        if hmacs.contains(where: { code.matches($0) }) {
            if let account = code.account, let token {
                return .resetTokenIssued(
                    ResetTokenIssued(
                        subject: subject, account: account, digest: token.digest, expiresAt: now + rules.resetLifetime,
                        device: device, reply: token.reply))
            }
            return .codeConfirmed(CodeConfirmed(subject: subject, purpose: purpose, channel: purpose.channel, device: device))
        }
        if code.attempts + 1 >= rules.attempts {
            return .codeExhausted(CodeExhausted(subject: subject, purpose: purpose, device: device))
        }
        return .codeMissed(CodeMissed(subject: subject, purpose: purpose, device: device))
    }

    /// Whatever becomes of the password, the token is gone.
    private static func consume(
        _ request: ConsumeResetToken, at now: Timestamp, given state: State
    ) throws(Refusal) -> ResetTokenConsumed {
        guard let token = state.liveResetToken(at: now), token.digest.matches(request.digest) else { throw .unknownResetToken }
        return ResetTokenConsumed(subject: request.subject, account: token.account, password: request.password)
    }

    public static func evolve(_ state: inout State, with event: Event) {
        let now = event.time
        state.forget(at: now)
        switch event.content {
        case .codeIssued(let issued):
            state[issued.device].code = Code(
                digest: issued.digest, salt: issued.salt ?? [], account: issued.account, issuedAt: now,
                expiresAt: issued.expiresAt)
            state[issued.device].sends.append(now)
        case .codeMissed(let missed):
            state[missed.device].code?.attempts += 1
            state[missed.device].wrongCodes.append(now)
        case .codeExhausted(let exhausted):
            state[exhausted.device].code = nil
            state[exhausted.device].wrongCodes.append(now)
        case .codeConfirmed(let confirmed):
            state[confirmed.device].code = nil
        case .resetTokenIssued(let issued):
            state[issued.device].code = nil
            state.resetToken = ResetToken(
                digest: issued.digest, account: issued.account, issuedAt: now, expiresAt: issued.expiresAt)
        case .resetTokenConsumed:
            state.resetToken = nil
        }
    }
}
