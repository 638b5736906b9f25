public import Crypto
public import EventLog
public import EventSchema
import JSON
public import VerificationDomain

/// A command of `verification.commands`, with all that its decision takes but the time.
public enum ChallengeInput: Sendable {
    case issue(IssueCode, DrawnCode)
    case confirm(ConfirmCode, EnteredCode, token: DrawnResetToken?)
    case consume(ConsumeResetToken)
}

/// Verification as the decision loop sees it: how its records read, where its rules stand.
///
/// A code is drawn, and sealed to the Notifier, for every command that might need one, so that the work is the same whether
/// one is sent or not.
public struct ChallengePartition: PartitionDomain {
    public let rules: Challenge.Rules
    private let keys: VerificationKeys
    private let routing: Routing
    private let sealer: BoxSealer
    private let notifier: @Sendable () -> RecipientKey
    private let draw: @Sendable () -> Draw
    private let codec = SchemaCodec.current

    /// What is random about a code.
    public struct Draw: Sendable {
        /// Six digits.
        public var code: String
        /// 16 bytes.
        public var salt: [UInt8]

        public init(code: String, salt: [UInt8]) {
            self.code = code
            self.salt = salt
        }

        /// From the CSPRNG.
        public static func random() -> Draw { Draw(code: Random.code(digits: digits), salt: Random.bytes(16)) }
    }

    /// - Parameters:
    ///   - notifier: the key that codes are sealed to now. It is known before the first command is read.
    ///   - draw: simulations draw from a seed.
    public init(
        rules: Challenge.Rules, keys: VerificationKeys, routing: Routing, sealer: BoxSealer,
        notifier: @escaping @Sendable () -> RecipientKey,
        draw: @escaping @Sendable () -> Draw = { .random() }
    ) {
        self.rules = rules
        self.keys = keys
        self.routing = routing
        self.sealer = sealer
        self.notifier = notifier
        self.draw = draw
    }

    // MARK: Reading

    public func read(_ message: InboxMessage) -> Reading<ChallengeInput> {
        do throws(SchemaError) {
            switch try codec.decode(VerificationCommand.self, type: message.type, data: message.data) {
            case .issueCode(let request): return read(request)
            case .confirmCode(let request): return read(request, message)
            case .consumeResetToken(let request): return .input(.consume(request))
            }
        } catch {
            if case .unknownType = error { return .unknownType }
            return .malformed
        }
    }

    private func read(_ request: IssueCode) -> Reading<ChallengeInput> {
        guard request.channel == request.purpose.channel else { return .malformed }
        // What is reset is the password of one account, or nothing at all.
        let resetsAccount = request.purpose == .passwordReset && !request.decoy
        guard (request.account != nil) == resetsAccount else { return .malformed }
        let draw = draw()
        let hmac = keys.hmac(of: draw.code, subject: request.subject, purpose: request.purpose)
        let context = SealingContext.code(subject: request.subject, purpose: request.purpose)
        guard let box = try? sealer.seal(Array(draw.code.utf8), to: notifier(), context: context) else { return .malformed }
        return .input(.issue(request, DrawnCode(hmac: hmac, salt: draw.salt, code: box)))
    }

    private func read(_ request: ConfirmCode, _ message: InboxMessage) -> Reading<ChallengeInput> {
        // Right or wrong, decoy or not, the work is the same.
        let token = request.purpose == .passwordReset ? drawResetToken(for: request.subject, message) : nil
        let context = SealingContext.submission(subject: request.subject, purpose: request.purpose)
        guard let bytes = keys.opener.open(request.code, context: context) else {
            return .input(.confirm(request, .unreadable, token: token))
        }
        guard bytes.count == Self.digits, bytes.allSatisfy({ 48...57 ~= $0 }) else { return .malformed }
        let code = String(decoding: bytes, as: UTF8.self)
        let hmac = keys.hmac(of: code, subject: request.subject, purpose: request.purpose)
        let others = keys.others(of: code, subject: request.subject, purpose: request.purpose)
        return .input(.confirm(request, .hmac(hmac, others: others), token: token))
    }

    private func drawResetToken(for subject: Subject, _ message: InboxMessage) -> DrawnResetToken {
        let token = routing.token(kind: .reset, reference: subject.bytes, for: subject.routingKey)
        let reply = message.replyTo.flatMap { address in
            // It fails for a malformed address only, where nobody could open it.
            try? sealer.seal(
                JSON.object(["resetToken": .string(token.text)]).serialized(), to: address.recipient,
                context: SealingContext.reply(to: message.id))
        }
        return DrawnResetToken(digest: token.digest, reply: reply)
    }

    private static let digits = 6

    // MARK: Rules

    public func key(of input: ChallengeInput) -> Challenge.Key {
        switch input {
        case .issue(let request, _): Challenge.Key(subject: request.subject, purpose: request.purpose)
        case .confirm(let request, _, _): Challenge.Key(subject: request.subject, purpose: request.purpose)
        case .consume(let request): Challenge.Key(subject: request.subject, purpose: .passwordReset)
        }
    }

    public func key(of event: VerificationEvent) -> Challenge.Key {
        switch event {
        case .codeIssued(let event): Challenge.Key(subject: event.subject, purpose: event.purpose)
        case .codeMissed(let event): Challenge.Key(subject: event.subject, purpose: event.purpose)
        case .codeExhausted(let event): Challenge.Key(subject: event.subject, purpose: event.purpose)
        case .codeConfirmed(let event): Challenge.Key(subject: event.subject, purpose: event.purpose)
        case .resetTokenIssued(let event): Challenge.Key(subject: event.subject, purpose: .passwordReset)
        case .resetTokenConsumed(let event): Challenge.Key(subject: event.subject, purpose: .passwordReset)
        }
    }

    public var initial: Challenge.State { Challenge.State(rules: rules) }

    public func decide(
        _ input: ChallengeInput, at now: Timestamp, given challenge: Challenge.State
    ) -> Decision<VerificationEvent> {
        let command: Challenge.Command =
            switch input {
            case .issue(let request, let drawn): .issue(request, drawn, at: now)
            case .confirm(let request, let entered, let token): .confirm(request, entered, token: token, at: now)
            case .consume(let request): .consume(request, at: now)
            }
        do throws(Challenge.Refusal) {
            return try Challenge.decide(command, given: challenge).map { .event($0.content) } ?? .nothing
        } catch {
            return .refusal(error.rawValue)
        }
    }

    public func evolve(_ challenge: inout Challenge.State, with event: VerificationEvent, at now: Timestamp) {
        Challenge.evolve(&challenge, with: Challenge.Event(event, at: now))
    }

    public func isSpent(_ challenge: Challenge.State, at now: Timestamp) -> Bool { challenge.isSpent(at: now) }

    public func forgetFuture(_ challenge: inout Challenge.State, after now: Timestamp) { challenge.forget(at: now) }

    // MARK: Writing

    public func encode(_ event: VerificationEvent) -> EventBody {
        let encoded = codec.encode(event)
        return EventBody(type: encoded.type, subject: key(of: event).subject.base64url, data: encoded.data)
    }

    public func decode(_ body: EventBody) throws(UnreadableBody) -> VerificationEvent {
        do throws(SchemaError) {
            return try codec.decode(VerificationEvent.self, type: body.type, data: body.data)
        } catch {
            throw UnreadableBody(type: body.type, reason: "\(error)")
        }
    }

    // MARK: Answering

    public func answer(to event: VerificationEvent) -> Answer? {
        switch event {
        case .codeIssued: sent
        case .codeMissed: answer(Reply(outcome: .invalidOTP))
        case .codeExhausted: answer(Reply(outcome: .maxAttemptsExceeded))
        case .resetTokenIssued(let event):
            answer(
                Reply(
                    outcome: .ok, data: ["expiresIn": .integer(rules.resetLifetime.milliseconds / 1_000)],
                    boxes: event.reply.map { [$0] } ?? []))
        // Identity answers once it has stamped what the code proves, or set the password.
        case .codeConfirmed, .resetTokenConsumed: nil
        }
    }

    public func answerElsewhere(to event: VerificationEvent) -> Answer? {
        switch event {
        case .codeConfirmed(let event) where event.purpose != .passwordReset: answer(Reply(outcome: .ok))
        // Only Identity knows what became of the password; it is asked with what it was sent.
        case .resetTokenConsumed(let event): Answer(data: codec.encode(event).data)
        default: nil
        }
    }

    public func answer(forRefusal code: String) -> Answer? {
        switch Challenge.Refusal(rawValue: code) {
        // Nobody is told that nothing was sent.
        case .dailySendsUsedUp, .sendsUsedUp: sent
        case .noLiveCode, .unreadableCode: answer(Reply(outcome: .invalidOTP))
        case .wrongCodesUsedUp: answer(Reply(outcome: .maxAttemptsExceeded))
        case .unknownResetToken: answer(Reply(outcome: .resetTokenInvalid))
        case nil: nil
        }
    }

    private var sent: Answer {
        answer(Reply(outcome: .ok, data: ["expiresIn": .integer(rules.lifetime.milliseconds / 1_000)]))
    }

    private func answer(_ reply: Reply) -> Answer { Answer(data: codec.encode(reply).data) }
}
