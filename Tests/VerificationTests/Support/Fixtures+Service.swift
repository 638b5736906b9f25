import Crypto
import EventSchema
import JSON
import VerificationDomain
import VerificationService

@testable import EventLog

/// Verification with keys of its own, and a Notifier that opens what is sealed to it.
struct ServiceFixture {
    let partition: ChallengePartition
    let keys: VerificationKeys
    let notifier = BoxOpener()
    let gateway = BoxSealer()
    let routing = Routing(secret: Secret([1]))

    init(rules: Challenge.Rules = Challenge.Rules(), secret: UInt8 = 5, accepted: [UInt8] = []) {
        let pair = KeyPair.random()
        notifier.insert(pair, id: "notifier:1")
        keys = VerificationKeys(
            secret: Secret(Array(repeating: secret, count: 32)),
            accepted: accepted.map { Secret(Array(repeating: $0, count: 32)) })
        partition = ChallengePartition(rules: rules, keys: keys, routing: routing, sealer: BoxSealer()) {
            RecipientKey(id: "notifier:1", publicKey: pair.publicKey)
        }
    }

    /// A command as the gateway seals it.
    func entered(
        _ code: String, subject: Subject = ada, purpose: Purpose = .emailVerification, sealedFor: Purpose? = nil
    ) throws -> ConfirmCode {
        let context = SealingContext.submission(subject: subject, purpose: sealedFor ?? purpose)
        return ConfirmCode(
            subject: subject, purpose: purpose, code: try gateway.seal(Array(code.utf8), to: keys.recipient, context: context))
    }

    func read(_ command: some Message) -> Reading<ChallengeInput> {
        let encoded = SchemaCodec.current.encode(command)
        return read(type: encoded.type, data: encoded.data)
    }

    func read(type: String, data: [UInt8]) -> Reading<ChallengeInput> {
        partition.read(
            InboxMessage(
                partition: TopicPartition(.verificationCommands, 0), offset: 0, time: noon, id: .random(), type: type,
                subject: ada.base64url, key: ada.routingKey.bytes, data: data, remember: .zero, fingerprint: []))
    }

    /// What a command comes to, and the state behind it.
    func decide(
        _ command: some Message, given challenge: Challenge.State? = nil
    ) throws -> (decision: Decision<VerificationEvent>, state: Challenge.State) {
        guard case .input(let input) = read(command) else { throw Unexpected() }
        var state = challenge ?? partition.initial
        let decision = partition.decide(input, at: noon, given: state)
        if case .event(let event) = decision { partition.evolve(&state, with: event, at: noon) }
        return (decision, state)
    }

    func reply(_ answer: Answer?) throws -> Reply? {
        try answer.map { try SchemaCodec.current.decode(Reply.self, type: MessageType.reply.name, data: $0.data) }
    }

    struct Unexpected: Error {}
}

extension Decision<VerificationEvent> {
    var event: VerificationEvent? { if case .event(let event) = self { event } else { nil } }
    var refusal: String? { if case .refusal(let code) = self { code } else { nil } }
}

extension VerificationEvent {
    var issued: CodeIssued? { if case .codeIssued(let issued) = self { issued } else { nil } }
}
