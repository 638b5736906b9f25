import Crypto
import EventSchema
import JSON
import Testing
import VerificationDomain
import VerificationService

@testable import EventLog

/// Reset tokens: earned by a code for the very account, live for ten minutes, good once.
@Suite struct ResetTests {
    private static let token = DrawnResetToken(digest: Digest(of: [1]), reply: box(4))
    private static let newer = AccountReference(user: account.user, credentialVersion: account.credentialVersion + 1)

    private static func sent(at now: Timestamp = noon, device: Digest? = nil) -> Challenge.Command {
        .issue(.sample(purpose: .passwordReset, account: account, device: device), drawn(right), at: now)
    }

    private static func enter(
        _ code: String = right, for account: AccountReference? = account, at now: Timestamp = noon, device: Digest? = nil,
        token: DrawnResetToken = token
    ) -> Challenge.Command {
        .confirm(
            ConfirmCode(subject: ada, purpose: .passwordReset, code: box(3), device: device, account: account), .hmac(hmac(code)),
            token: token, at: now)
    }

    private static func consume(_ digest: Digest = token.digest, at now: Timestamp = noon) -> Challenge.Command {
        .consume(ConsumeResetToken(subject: ada, digest: digest, password: box(5)), at: now)
    }

    private static func issued(at now: Timestamp = noon, token: DrawnResetToken = token) -> Challenge.Event {
        Challenge.Event(
            .resetTokenIssued(
                ResetTokenIssued(
                    subject: ada, account: account, digest: token.digest, expiresAt: now + .minutes(10), reply: token.reply)),
            at: now)
    }

    private static func consumed(at now: Timestamp = noon) -> Challenge.Event {
        Challenge.Event(.resetTokenConsumed(ResetTokenConsumed(subject: ada, account: account, password: box(5))), at: now)
    }

    /// After a code was sent for the account.
    private func waiting() throws -> Given<Challenge> {
        let event = try #require(try Given<Challenge>().when(Self.sent()).result.get())
        return Given(event)
    }

    @Test func `the right code is consumed and earns a token`() throws {
        try waiting().when(Self.enter()).then(Self.issued()).when(Self.enter()).thenRefused(.noLiveCode)
    }

    @Test func `a wrong one counts as everywhere`() throws {
        let missed = Challenge.Event(.codeMissed(CodeMissed(subject: ada, purpose: .passwordReset)), at: noon)
        try waiting().when(Self.enter(wrong)).then(missed)
    }

    @Test(arguments: [nil, newer])
    func `a code for another account, or another password, is none`(account: AccountReference?) throws {
        try waiting().when(Self.enter(for: account)).thenRefused(.noLiveCode)
    }

    @Test func `a decoy counts wrong codes like a code, and earns nothing`() throws {
        let command = Challenge.Command.issue(.sample(purpose: .passwordReset, decoy: true), drawn(right), at: noon)
        let decoy = try #require(try Given<Challenge>().when(command).result.get())
        let missed = Challenge.Event(.codeMissed(CodeMissed(subject: ada, purpose: .passwordReset)), at: noon)
        Given<Challenge>(decoy).when(Self.enter(for: nil)).then(missed)
    }

    @Test func `a token is good once`() {
        Given<Challenge>(Self.issued()).when(Self.consume()).then(Self.consumed()).when(Self.consume())
            .thenRefused(.unknownResetToken)
    }

    @Test func `a token is good for ten minutes`() {
        let end = noon + .minutes(10)
        let given = Given<Challenge>(Self.issued())
        given.when(Self.consume(at: end - .milliseconds(1))).then(Self.consumed(at: end - .milliseconds(1)))
        given.when(Self.consume(at: end)).thenRefused(.unknownResetToken)
        given.when(Self.consume(at: noon - .milliseconds(1))).thenRefused(.unknownResetToken)
    }

    @Test func `a newer token voids the one before, and another token consumes nothing`() {
        let other = DrawnResetToken(digest: Digest(of: [2]), reply: nil)
        let given = Given<Challenge>(Self.issued(), Self.issued(token: other))
        given.when(Self.consume()).thenRefused(.unknownResetToken)
        given.when(Self.consume(other.digest)).then(Self.consumed())
    }

    @Test func `a live token is remembered`() {
        let state = Given<Challenge>(Self.issued()).state
        #expect(!state.isSpent(at: noon + .minutes(10) - .milliseconds(1)))
        #expect(state.isSpent(at: noon + .minutes(10)))
    }

    // MARK: The service

    @Test func `the waiting gateway alone reads the token, which leads back to its subject`() throws {
        let service = ServiceFixture()
        let (gateway, opener) = (KeyPair.random(), BoxOpener())
        opener.insert(gateway, id: ReplyAddress.recipientID)
        let bytes16 = [UInt8](repeating: 1, count: 16)
        let address = ReplyAddress(partition: 0, process: bytes16, publicKey: gateway.publicKey, request: bytes16)

        let issue = try service.decide(IssueCode.sample(purpose: .passwordReset, account: account))
        let sent = try #require(issue.decision.event?.issued?.code)
        let context = SealingContext.code(subject: ada, purpose: .passwordReset)
        let code = String(decoding: try #require(service.notifier.open(sent, context: context)), as: UTF8.self)
        var confirm = try service.entered(code, purpose: .passwordReset)
        confirm.account = account
        let encoded = SchemaCodec.current.encode(confirm)
        let id = MessageID.random()
        let message = InboxMessage(
            partition: TopicPartition(.verificationCommands, 0), offset: 0, time: noon, id: id, type: encoded.type,
            subject: ada.base64url, key: ada.routingKey.bytes, data: encoded.data, replyTo: address, remember: .zero,
            fingerprint: [])
        guard case .input(let input) = service.partition.read(message),
            case .event(let event) = service.partition.decide(input, at: noon, given: issue.state),
            case .resetTokenIssued(let issued) = event
        else {
            Issue.record("no token")
            return
        }
        let reply = try #require(try service.reply(service.partition.answer(to: event)))
        #expect(reply.outcome == .ok)
        #expect(reply.data == ["expiresIn": 600])
        let box = try #require(reply.boxes?.first)
        let opened = try #require(opener.open(box, context: SealingContext.reply(to: id)))
        let text = try #require(try JSON.parse(opened)["resetToken"]?.string)
        let token = try #require(ReferenceToken(text, kind: .reset))
        #expect(token.digest == issued.digest)
        #expect(service.routing.open(token)?.reference == ada.bytes)

        // It is presented later, and Identity answers.
        let consume = ConsumeResetToken(subject: ada, digest: token.digest, password: box)
        var state = issue.state
        service.partition.evolve(&state, with: event, at: noon)
        let consumed = try service.decide(consume, given: state)
        #expect(
            consumed.decision.event
                == .resetTokenConsumed(ResetTokenConsumed(subject: ada, account: account, password: box)))
        #expect(try service.reply(consumed.decision.event.flatMap { service.partition.answer(to: $0) }) == nil)
        let refused = try service.decide(consume, given: consumed.state)
        #expect(
            try service.reply(service.partition.answer(forRefusal: refused.decision.refusal ?? ""))?.outcome == .resetTokenInvalid
        )
    }
}
