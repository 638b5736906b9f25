import Crypto
import EventLog
import EventLogSimulated
import EventSchema
import JSON
import TestSupport
import Testing
import VerificationDomain
import VerificationService

/// Verification's loop over a log in memory.
@Suite struct LoopTests {
    private let clock = SettableClock()
    private let log: SimulatedLog
    private let service = ServiceFixture()
    private let authenticator: RecordAuthenticator
    private let gateway = KeyPair.random()

    init() throws {
        log = SimulatedLog(partitions: 1, now: { [clock] in clock.now })
        authenticator = try EventRelay.authenticator()
    }

    private func send(_ message: some Message, as id: MessageID, request: UInt8 = 0) throws {
        let encoded = SchemaCodec.current.encode(message)
        let address = ReplyAddress(
            partition: 0, process: [UInt8](repeating: 5, count: 16), publicKey: gateway.publicKey,
            request: [UInt8](repeating: request, count: 16))
        let record = OutgoingRecord(
            partition: TopicPartition(.verificationCommands, 0), key: ada.routingKey.bytes,
            headers: [
                Header(HeaderName.id, id.text), Header(HeaderName.type, encoded.type), Header(HeaderName.budget, "60000"),
                Header(HeaderName.remember, "3600000"), Header(HeaderName.replyTo, address.encoded),
            ], value: encoded.data)
        let producer = try log.makeProducer(client: "gateway")
        producer.append(authenticator.sealed(record)) { _ in }
        producer.flush(within: .seconds(5))
        producer.close()
    }

    private func events() -> [(type: String, replyTo: ReplyAddress?, data: [UInt8])] {
        log.records(of: TopicPartition(.verificationEvents, 0)).map { record in
            func text(_ name: String) -> String { String(decoding: record.header(name) ?? [], as: UTF8.self) }
            return (text(HeaderName.type), ReplyAddress(encoded: text(HeaderName.replyTo)), record.value)
        }
    }

    @Test func `a reset token's command that comes again asks Identity for the answer again`() async throws {
        let loop = RunningLoop(
            log: log, domain: service.partition, settings: VerificationService.settings(Challenge.Rules()),
            authenticator: authenticator, store: NoProjection<ChallengePartition>())
        try send(IssueCode.sample(purpose: .passwordReset, account: account), as: .random())
        let issued = try #require(
            try await waitUntil { loop.happened.compactMap(\.event).compactMap(\.issued).first })
        let context = SealingContext.code(subject: ada, purpose: .passwordReset)
        let box = try #require(issued.code)
        let code = try #require(service.notifier.open(box, context: context))
        var confirm = try service.entered(String(decoding: code, as: UTF8.self), purpose: .passwordReset)
        confirm.account = account
        try send(confirm, as: .random())
        let token = try #require(
            try await waitUntil { () -> Digest? in
                loop.happened.compactMap(\.event).compactMap { event -> Digest? in
                    if case .resetTokenIssued(let issued) = event { issued.digest } else { nil }
                }.first
            })

        let (consume, other) = (MessageID.random(), MessageID.random())
        let command = ConsumeResetToken(subject: ada, digest: token, password: try service.seal("New Horse 2"))
        for request in 1...2 as ClosedRange<UInt8> { try send(command, as: consume, request: request) }
        #expect(try await waitUntil { events().count == 4 })
        let (consumed, repeated) = (events()[2], events()[3])
        #expect(consumed.type == ResetTokenConsumed.type.rawValue)
        #expect(repeated.type == LogRecordType.repeated)
        // The same, to whoever waits now.
        #expect(repeated.data == consumed.data)
        #expect(consumed.replyTo?.request.first == 1)
        #expect(repeated.replyTo?.request.first == 2)

        // Another command finds the token gone.
        try send(command, as: other, request: 3)
        let told = try #require(
            try await waitUntil { () -> JSON? in
                log.records(of: TopicPartition(.replies, 0)).first { record in
                    record.header(HeaderName.causation) == Array(other.text.utf8)
                }.flatMap { try? JSON.parse($0.value) }
            })
        #expect(told["outcome"] == "RESET_TOKEN_INVALID")
        loop.stop()
    }
}

extension ServiceFixture {
    /// A new password, sealed to Identity, which is nobody here.
    fileprivate func seal(_ password: String) throws -> Box {
        let identity = RecipientKey(id: "identity:1", publicKey: KeyPair.random().publicKey)
        return try gateway.seal(Array(password.utf8), to: identity, context: SealingContext.password(subject: ada))
    }
}
