import Crypto
import EventLog
import EventSchema
import JSON
import TestSupport
import Testing

@testable import IdentityService

/// What check workers make of logins, and the records that their verdicts travel in.
@Suite struct LoginCheckTests {
    private let scene: CheckScene

    init() throws { scene = try CheckScene() }

    // MARK: Logging in

    private func logIn(_ password: String, device: Digest? = nil) throws -> CheckLogin {
        CheckLogin(
            subject: scene.subject, password: try scene.seal(password, SealingContext.password(subject: scene.subject)),
            device: device)
    }

    @Test func `the right password goes on with what it was checked against, and with the person`() throws {
        let device = Digest(of: [1])
        let account = try scene.account()
        let request = try scene.request(logIn("Correct Horse 1", device: device), client: "192.0.2.7")
        let command = try scene.command(LogIn.self, of: request, with: scene.records(account))
        #expect(command.verdict == .right)
        #expect(command.account == account.reference)
        #expect(command.profileVersion == 2)
        #expect(command.device == device)
        #expect(command.rehash == nil)
        #expect(try scene.opened(command.person, of: request)["email"] == "ada@example.com")
        #expect(command.client.flatMap { scene.key.text($0, .client) }?.contains("192.0.2.7") == true)
    }

    @Test(arguments: ["Correct Horse 2", "", "correct horse 1", String(repeating: "x", count: 4_000), "Correct Horse 1\0"])
    func `a wrong password goes on without anything of the person`(password: String) throws {
        let account = try scene.account()
        let request = try scene.request(logIn(password), client: "192.0.2.7")
        let command = try scene.command(LogIn.self, of: request, with: scene.records(account))
        #expect(command.verdict == .wrong)
        #expect(command.account == account.reference)
        #expect(command.person == nil && command.client == nil && command.rehash == nil)
    }

    @Test func `nobody's password is checked as well, and goes on as wrong`() throws {
        let command = try scene.command(LogIn.self, of: scene.request(logIn("x")), with: AccountDirectory.Records())
        #expect(command.verdict == .wrong)
        #expect(command.account == nil)
    }

    @Test(arguments: [false, true]) func `a login that is blocked is not checked, account or not`(hasAccount: Bool) throws {
        let other = scene.routing.subject(kind: .email, canonical: "bob@example.com")
        var records = hasAccount ? scene.records(try scene.account()) : AccountDirectory.Records()
        let request = try scene.request(logIn("Correct Horse 1"), client: "192.0.2.7")
        func verdict() throws -> PasswordVerdict {
            let command = try scene.command(LogIn.self, of: request, with: records)
            #expect(command.account?.user == (hasAccount ? scene.user : nil))
            #expect(scene.work.isSlow(request, with: records) == (command.verdict != .unchecked))
            if command.verdict == .unchecked {
                #expect(command.person == nil && command.client == nil && command.rehash == nil)
            }
            return command.verdict
        }
        let checked = hasAccount ? PasswordVerdict.right : .wrong
        #expect(try verdict() == checked)
        let tag = { (address: String) in scene.work.tag(CheckWork.Client(address: address, bytes: []), for: scene.subject) }
        records.blocks.block(other)
        records.blocks.block(scene.subject, from: tag("192.0.2.8"))
        #expect(try verdict() == checked)
        var ofAddress = records
        ofAddress.blocks.block(scene.subject, from: tag("192.0.2.7"))
        records.blocks.block(scene.subject)
        #expect(try verdict() == .unchecked)
        records = ofAddress
        #expect(try verdict() == .unchecked)
    }

    @Test func `a device of the account is held up by a block of its own alone`() throws {
        let (device, stranger) = (Digest(of: [1]), scene.routing.userID(for: scene.subject.routingKey))
        let account = try scene.account()
        var records = scene.records(account)
        let request = try scene.request(logIn("Correct Horse 1", device: device))
        records.blocks.block(scene.subject)
        records.blocks.block(device, of: stranger)
        #expect(try scene.command(LogIn.self, of: request, with: records).verdict == .right)
        records.blocks.block(device, of: account.user)
        #expect(try scene.command(LogIn.self, of: request, with: records).verdict == .unchecked)
    }

    @Test func `a disabled account is none`() throws {
        let account = try scene.account(isDisabled: true)
        let command = try scene.command(LogIn.self, of: scene.request(logIn("Correct Horse 1")), with: scene.records(account))
        #expect(command.verdict == .wrong)
        #expect(command.account == nil && command.person == nil)
    }

    @Test(arguments: [
        "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW",
        "$argon2id$v=19$m=64,t=2,p=1$AAECAwQFBgcICQoLDA0ODw$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    ]) func `a right password with an outdated hash brings a new one, a wrong one never`(text: String) throws {
        let outdated =
            try text.hasPrefix("$2a$")
            ? scene.account(hash: text) : scene.account(password: "U*U", cost: Argon2Settings(memory: 64, passes: 2))
        let request = try scene.request(logIn("U*U"))
        let command = try scene.command(LogIn.self, of: request, with: scene.records(outdated))
        #expect(command.verdict == .right)
        let rehash = try #require(command.rehash.flatMap { scene.key.text($0, .passwordHash) }.flatMap { PasswordHash($0) })
        #expect(!rehash.needsRehash(CheckScene.cost))
        #expect(try rehash.matches(Array("U*U".utf8)))
        let wrong = try scene.command(LogIn.self, of: scene.request(logIn("U*")), with: scene.records(outdated))
        #expect(wrong.verdict == .wrong && wrong.rehash == nil)
    }

    @Test func `an address has one tag for an identifier, and another for another`() throws {
        func tag(_ address: String?, _ subject: Subject) -> AddressTag {
            scene.work.tag(address.map { CheckWork.Client(address: $0, bytes: []) }, for: subject)
        }
        let other = scene.routing.subject(kind: .email, canonical: "bob@example.com")
        #expect(tag("192.0.2.7", scene.subject) == tag("192.0.2.7", scene.subject))
        #expect(tag("192.0.2.7", scene.subject) != tag("192.0.2.8", scene.subject))
        #expect(tag("192.0.2.7", scene.subject) != tag("192.0.2.7", other))
        #expect(tag("192.0.2.7", scene.subject) == tag("::ffff:192.0.2.7", scene.subject))
        #expect(tag("2001:db8::1", scene.subject) == tag("2001:db8::2", scene.subject))
        #expect(tag("2001:db8::1", scene.subject) != tag("2001:db8:0:1::1", scene.subject))
        #expect(tag(nil, scene.subject) == tag("not an address", scene.subject))
    }

    // MARK: Records

    @Test func `a command keeps its check's id, address, trace and client, and what is left of its budget`() throws {
        let authenticator = try RecordAuthenticator(keys: [1: Secret([UInt8](repeating: 7, count: 32))])
        let followUp = FollowUp(authenticator: authenticator, partitions: 12)
        let request = try scene.request(logIn("x"), client: "192.0.2.7")
        let command = try scene.command(LogIn.self, of: request, with: AccountDirectory.Records())
        let record = followUp.record(command, to: scene.subject.routingKey, for: request, remaining: .milliseconds(1_234))
        #expect(record.partition == TopicPartition(.identityCommands, scene.subject.routingKey.partition(among: 12)))
        let stored = Record(
            partition: record.partition, offset: 0, time: Timestamp(milliseconds: 5_000), key: record.key,
            headers: record.headers, value: record.value)
        #expect(authenticator.verify(stored) == .authentic(key: 1))
        let message = try #require(InboxMessage(command: stored))
        #expect(message.id == request.message.id)
        #expect(message.replyTo == scene.address)
        #expect(message.traceParent == request.message.traceParent)
        #expect(message.client == request.message.client)
        #expect(message.remember == .hours(1))
        #expect(message.deadline == Timestamp(milliseconds: 6_234))
    }

    @Test func `budgets are over by the log's clock, or by the time since it was read`() throws {
        let request = try scene.request(logIn("x"), budget: .seconds(10))
        #expect(request.remaining(Timestamp(milliseconds: 1_004_000)) == .seconds(6))
        #expect(!request.isOver(Timestamp(milliseconds: 1_009_999)))
        #expect(request.isOver(Timestamp(milliseconds: 1_010_000)))
        #expect(!request.isOver(nil))
        var late = request
        late.received = .now - .seconds(11)
        #expect(late.isOver(nil))
        #expect(try scene.request(logIn("x"), budget: nil).remaining(Timestamp(milliseconds: .max)) == nil)
    }
}
