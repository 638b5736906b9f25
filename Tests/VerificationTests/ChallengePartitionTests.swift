import Crypto
import EventLog
import EventSchema
import JSON
import Testing
import VerificationDomain

@testable import VerificationService

/// Between records and rules.
@Suite struct ChallengePartitionTests {
    let service = ServiceFixture()

    /// The code of an event, as the Notifier reads it.
    private func code(in event: VerificationEvent?) throws -> String {
        let issued = try #require(event?.issued)
        let box = try #require(issued.code)
        let context = SealingContext.code(subject: issued.subject, purpose: issued.purpose)
        return String(decoding: try #require(service.notifier.open(box, context: context)), as: UTF8.self)
    }

    @Test func `the notifier gets the code that is confirmed later`() throws {
        let (decision, state) = try service.decide(IssueCode.sample())
        let code = try code(in: decision.event)
        #expect(code.utf8.count == 6 && code.utf8.allSatisfy { 48...57 ~= $0 })
        let (confirmation, _) = try service.decide(try service.entered(code), given: state)
        #expect(
            confirmation.event == .codeConfirmed(CodeConfirmed(subject: ada, purpose: .emailVerification, channel: .email)))
    }

    @Test func `codes differ from one another`() throws {
        let codes = try Set((0..<50).map { _ in try code(in: service.decide(IssueCode.sample()).decision.event) })
        #expect(codes.count > 45)
    }

    @Test func `another code is missed`() throws {
        let (decision, state) = try service.decide(IssueCode.sample())
        let other = try code(in: decision.event) == "000000" ? "000001" : "000000"
        let (missed, _) = try service.decide(try service.entered(other), given: state)
        #expect(missed.event == .codeMissed(CodeMissed(subject: ada, purpose: .emailVerification)))
    }

    @Test func `another instance with the same secret confirms it`() throws {
        let (decision, state) = try service.decide(IssueCode.sample())
        let code = try code(in: decision.event)
        let second = ServiceFixture()
        #expect(second.keys.recipient == service.keys.recipient)
        #expect(try second.decide(try service.entered(code), given: state).decision.event != nil)
    }

    @Test func `while the secret is replaced, codes made under the one are good under the other`() throws {
        let (old, new) = (ServiceFixture(accepted: [6]), ServiceFixture(secret: 6, accepted: [5]))
        for (first, second) in [(old, new), (new, old)] {
            let (decision, state) = try first.decide(IssueCode.sample())
            let issued = try #require(decision.event?.issued)
            let context = SealingContext.code(subject: issued.subject, purpose: issued.purpose)
            let box = try #require(issued.code)
            let code = String(decoding: try #require(first.notifier.open(box, context: context)), as: UTF8.self)
            // Whichever pair it was sealed to.
            for gateway in [first, second] {
                let (confirmed, _) = try second.decide(try gateway.entered(code), given: state)
                #expect(
                    confirmed.event == .codeConfirmed(CodeConfirmed(subject: ada, purpose: .emailVerification, channel: .email)))
            }
            let other = code == "000000" ? "000001" : "000000"
            #expect(
                try second.decide(try second.entered(other), given: state).decision.event
                    == .codeMissed(CodeMissed(subject: ada, purpose: .emailVerification)))
            // Without the other secret it is one wrong code among others.
            let alone = ServiceFixture(secret: first.keys.recipient.id == new.keys.recipient.id ? 5 : 6)
            #expect(try alone.decide(try alone.entered(code), given: state).decision.event?.issued == nil)
            #expect(
                try alone.decide(try alone.entered(code), given: state).decision.event
                    == .codeMissed(CodeMissed(subject: ada, purpose: .emailVerification)))
        }
    }

    @Test func `the code's digest depends on subject, purpose and secret`() throws {
        let keys = service.keys
        let digest = keys.hmac(of: right, subject: ada, purpose: .emailVerification)
        #expect(digest == keys.hmac(of: right, subject: ada, purpose: .emailVerification))
        let bert = try #require(Subject(bytes: Array(2...17)))
        #expect(digest != keys.hmac(of: right, subject: bert, purpose: .emailVerification))
        #expect(digest != keys.hmac(of: right, subject: ada, purpose: .passwordReset))
        #expect(digest != keys.hmac(of: wrong, subject: ada, purpose: .emailVerification))
        let other = VerificationKeys(secret: Secret(Array(repeating: 6, count: 32)))
        #expect(digest != other.hmac(of: right, subject: ada, purpose: .emailVerification))
        #expect(other.recipient.id != keys.recipient.id && other.recipient.publicKey != keys.recipient.publicKey)
    }

    @Test func `neither code nor what it is guessed from stands in the event`() throws {
        let (decision, _) = try service.decide(IssueCode.sample())
        let event = try #require(decision.event)
        let code = try code(in: event)
        let text = String(decoding: service.partition.encode(event).data, as: UTF8.self)
        // (Base64URL has digits in it, and six of them in a row may be the code; a text field with it is not.)
        #expect(!text.contains("\"\(code)\""))
        #expect(!text.contains(Digest(of: Array(code.utf8)).base64url))
        #expect(!text.contains(service.keys.hmac(of: code, subject: ada, purpose: .emailVerification).base64url))
    }

    @Test func `a decoy draws a code for nobody`() throws {
        let (decision, state) = try service.decide(IssueCode.sample(decoy: true))
        let issued = try #require(decision.event?.issued)
        #expect(issued.decoy && issued.code == nil && issued.digest == nil && issued.salt == nil && issued.recipient == nil)
        let (missed, _) = try service.decide(try service.entered(right), given: state)
        #expect(missed.event == .codeMissed(CodeMissed(subject: ada, purpose: .emailVerification)))
    }

    @Test func `a box for another purpose, subject or key does not open`() throws {
        let (decision, state) = try service.decide(IssueCode.sample())
        let code = try code(in: decision.event)
        let bert = try #require(Subject(bytes: Array(2...17)))
        var moved = try service.entered(code, subject: bert)
        moved.subject = ada
        var changed = try service.entered(code)
        changed.code = box(9)
        for command in [try service.entered(code, sealedFor: .passwordReset), moved, changed] {
            let (refused, _) = try service.decide(command, given: state)
            #expect(refused.refusal == Challenge.Refusal.unreadableCode.rawValue)
            #expect(try service.reply(service.partition.answer(forRefusal: refused.refusal ?? ""))?.outcome == .invalidOTP)
        }
    }

    @Test(arguments: ["", "12345", "1234567", "12345a", "１２３４５６", " 12345", "12345\n"])
    func `a malformed code in a box is nobody's business`(code: String) throws {
        guard case .malformed = service.read(try service.entered(code)) else {
            Issue.record("'\(code)' was read as a code")
            return
        }
    }

    @Test func `commands that contradict themselves are malformed`() throws {
        var wrongChannel = IssueCode.sample()
        wrongChannel.channel = .sms
        let commands = [
            wrongChannel, .sample(account: account), .sample(purpose: .passwordReset),
            .sample(purpose: .passwordReset, decoy: true, account: account), .sample(decoy: true, account: account),
        ]
        for command in commands {
            guard case .malformed = service.read(command) else {
                Issue.record("\(command) was read")
                continue
            }
        }
        for command in [
            IssueCode.sample(purpose: .passwordReset, account: account), .sample(purpose: .passwordReset, decoy: true),
        ] {
            guard case .input = service.read(command) else {
                Issue.record("\(command) was not read")
                continue
            }
        }
    }

    @Test func `what is no command of this topic is malformed, what nobody knows is unknown`() {
        let name = MessageType.confirmCode.name
        for (type, data) in [(name, "{}"), (name, "[]"), (name, "{"), (MessageType.codeMissed.name, "{}")] {
            guard case .malformed = service.read(type: type, data: Array(data.utf8)) else {
                Issue.record("\(type) with \(data) was read")
                continue
            }
        }
        for type in ["latchkey.verification.confirm-code.v2", "something", ""] {
            guard case .unknownType = service.read(type: type, data: Array("{}".utf8)) else {
                Issue.record("\(type) was read")
                continue
            }
        }
    }

    @Test func `events read as they were written`() throws {
        let issued = try #require(try service.decide(IssueCode.sample(device: phone)).decision.event)
        let events: [VerificationEvent] = [
            issued, .codeMissed(CodeMissed(subject: ada, purpose: .passwordReset, device: phone)),
            .codeExhausted(CodeExhausted(subject: ada, purpose: .phoneVerification)),
            .codeConfirmed(CodeConfirmed(subject: ada, purpose: .emailVerification, channel: .email, device: tablet)),
        ]
        for event in events {
            let body = service.partition.encode(event)
            #expect(body.subject == ada.base64url)
            #expect(try service.partition.decode(body) == event)
            #expect(service.partition.key(of: event).subject == ada)
        }
    }

    @Test func `an event that cannot be read says which`() throws {
        for type in ["latchkey.verification.code-missed.v2", MessageType.codeMissed.name, MessageType.delivered.name] {
            let error = #expect(throws: UnreadableBody.self) {
                try service.partition.decode(EventBody(type: type, subject: nil, data: Array("{}".utf8)))
            }
            #expect(error?.type == type)
        }
    }

    @Test func `each purpose of an identifier is a challenge of its own`() throws {
        guard case .input(let email) = service.read(IssueCode.sample()),
            case .input(let reset) = service.read(IssueCode.sample(purpose: .passwordReset, decoy: true)),
            case .input(let entered) = service.read(try service.entered(right))
        else { throw ServiceFixture.Unexpected() }
        #expect(service.partition.key(of: email) != service.partition.key(of: reset))
        #expect(service.partition.key(of: email) == service.partition.key(of: entered))
    }

    // MARK: Answers

    private static let expiry: JSON = ["expiresIn": 300]

    @Test func `events earn the answers of the contract`() throws {
        let issued = try #require(try service.decide(IssueCode.sample()).decision.event)
        let partition = service.partition
        #expect(try service.reply(partition.answer(to: issued)) == Reply(outcome: .ok, data: Self.expiry))
        let missed = VerificationEvent.codeMissed(CodeMissed(subject: ada, purpose: .emailVerification))
        #expect(try service.reply(partition.answer(to: missed)) == Reply(outcome: .invalidOTP))
        let exhausted = VerificationEvent.codeExhausted(CodeExhausted(subject: ada, purpose: .emailVerification))
        #expect(try service.reply(partition.answer(to: exhausted)) == Reply(outcome: .maxAttemptsExceeded))
        let confirmed = CodeConfirmed(subject: ada, purpose: .emailVerification, channel: .email)
        #expect(partition.answer(to: .codeConfirmed(confirmed)) == nil)
    }

    @Test(arguments: Challenge.Refusal.allCases) func `so do refusals`(refusal: Challenge.Refusal) throws {
        let expected =
            switch refusal {
            case .dailySendsUsedUp, .sendsUsedUp: Reply(outcome: .ok, data: Self.expiry)
            case .noLiveCode, .unreadableCode: Reply(outcome: .invalidOTP)
            case .wrongCodesUsedUp: Reply(outcome: .maxAttemptsExceeded)
            case .unknownResetToken: Reply(outcome: .resetTokenInvalid)
            }
        #expect(try service.reply(service.partition.answer(forRefusal: refusal.rawValue)) == expected)
    }

    @Test func `a send too many is answered byte for byte like a send`() throws {
        let issued = try #require(try service.decide(IssueCode.sample()).decision.event)
        let decoy = try #require(try service.decide(IssueCode.sample(decoy: true)).decision.event)
        let answers = [
            service.partition.answer(to: issued), service.partition.answer(to: decoy),
            service.partition.answer(forRefusal: Challenge.Refusal.sendsUsedUp.rawValue),
            service.partition.answer(forRefusal: Challenge.Refusal.dailySendsUsedUp.rawValue),
        ]
        #expect(Set(answers).count == 1)
    }

    @Test func `refusals of other versions are not answered`() {
        #expect(service.partition.answer(forRefusal: "something-else") == nil)
    }

    @Test(arguments: Challenge.Refusal.allCases) func `refusals can stand in a header`(refusal: Challenge.Refusal) {
        #expect(refusal.rawValue.utf8.allSatisfy { 97...122 ~= $0 || $0 == 45 })
    }
}
