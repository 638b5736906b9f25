import Crypto
import EventLogSimulated
import EventSchema
import SeededRandom
import Synchronization
import VerificationService

@testable import EventLog
@testable import VerificationDomain

/// The real Verification: a few addresses that ask for codes and enter right and wrong ones. Its windows are short, so that
/// they pass within a run.
struct VerificationWorkload: Workload {
    static let rules = Challenge.Rules(
        lifetime: .seconds(15), attempts: 3, sends: 4, sendWindow: .seconds(20), wrongCodes: 6, wrongCodeWindow: .seconds(30))

    let domain: ChallengePartition
    private var random: SeededGenerator
    private let subjects: [Subject]

    init(random: SeededGenerator) {
        var random = random
        let draws = Mutex(random.fork())
        domain = ChallengePartition(
            rules: Self.rules, keys: Keys.shared.verification, routing: Routing(secret: Secret([1])), sealer: Keys.shared.sealer,
            notifier: { Keys.shared.notifierKey },
            draw: {
                draws.withLock { draws in
                    let code = String(Int.random(in: 0..<1_000_000, using: &draws) + 1_000_000).dropFirst()
                    return ChallengePartition.Draw(
                        code: String(code), salt: (0..<16).map { _ in UInt8.random(in: 0...255, using: &draws) })
                }
            })
        subjects = (1...3).map { number in
            guard let subject = Subject(bytes: [UInt8](repeating: UInt8(number), count: 16)) else {
                preconditionFailure("16 bytes")
            }
            return subject
        }
        self.random = random
    }

    var settings: LoopSettings {
        var settings = LoopSettings(
            service: .verification, storage: .memory(window: Self.rules.longestWindow), inboxes: [.verificationCommands],
            events: .verificationEvents)
        settings.longestBudget = .seconds(5)
        return settings
    }

    mutating func command(after events: ValidEvents) -> CommandDraft {
        let subject = subjects.randomElement(using: &random) ?? subjects[0]
        let device = random.chance(0.2) ? Digest(of: [1]) : nil
        if random.chance(0.4) {
            return draft(
                IssueCode(
                    subject: subject, purpose: .emailVerification, channel: .email, recipient: Keys.shared.recipient,
                    overDailyLimit: random.chance(0.05), decoy: random.chance(0.15), device: device))
        }
        let code = random.chance(0.4) ? newestCode(of: subject, device, in: events) : nil
        let text = code ?? String(String(Int.random(in: 1_000_000..<2_000_000, using: &random)).dropFirst())
        let context = SealingContext.submission(subject: subject, purpose: .emailVerification)
        guard let box = try? Keys.shared.sealer.seal(Array(text.utf8), to: Keys.shared.verification.recipient, context: context)
        else {
            preconditionFailure("the key is good")
        }
        return draft(ConfirmCode(subject: subject, purpose: .emailVerification, code: box, device: device))
    }

    private func draft(_ message: some Message) -> CommandDraft {
        let encoded = SchemaCodec.current.encode(message)
        return CommandDraft(type: encoded.type, subject: nil, key: [1], data: encoded.data)
    }

    /// The code that was last sent to somebody, as it stands in the mail.
    private func newestCode(of subject: Subject, _ device: Digest?, in events: ValidEvents) -> String? {
        for event in events.events.suffix(20).reversed() {
            guard case .codeIssued(let issued)? = try? domain.decode(event.envelope.body), issued.subject == subject,
                issued.device == device, let box = issued.code
            else { continue }
            let context = SealingContext.code(subject: subject, purpose: issued.purpose)
            return Keys.shared.notifier.open(box, context: context).map { String(decoding: $0, as: UTF8.self) }
        }
        return nil
    }

    func essence(of challenge: Challenge.State, at now: Timestamp) -> Challenge.State? {
        var challenge = challenge
        challenge.forget(at: now)
        return challenge == domain.initial ? nil : challenge
    }

    /// Key pairs, made once: they are random, and nothing depends on which they are.
    private struct Keys {
        static let shared = Keys()

        let verification = VerificationKeys(secret: Secret(Array(repeating: 4, count: 32)))
        let sealer = BoxSealer(lifetime: .seconds(1_000_000))
        let notifier = BoxOpener()
        let notifierKey: RecipientKey
        let recipient: SealedBox

        init() {
            let pair = KeyPair.random()
            notifier.insert(pair, id: "notifier:1")
            notifierKey = RecipientKey(id: "notifier:1", publicKey: pair.publicKey)
            guard let box = try? sealer.seal([1, 2, 3], to: notifierKey, context: []) else {
                preconditionFailure("the key is good")
            }
            recipient = box
        }
    }
}
