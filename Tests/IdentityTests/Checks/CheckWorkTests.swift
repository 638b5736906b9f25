import Crypto
import EventLog
import EventSchema
import JSON
import TestSupport
import Testing

@testable import IdentityService

@Suite struct CheckWorkTests {
    private let scene: CheckScene

    init() throws { scene = try CheckScene() }

    // MARK: Signing up

    private func signUp(_ kind: SignUpKind, _ id: MessageID, proofRequired: Bool = false) throws -> CheckSignUp {
        CheckSignUp(
            subject: scene.subject, channel: .email, kind: kind,
            identifier: try scene.seal("ada@example.com", SealingContext.identifier(subject: scene.subject)),
            password: try scene.seal("Correct Horse 1", SealingContext.password(subject: scene.subject)),
            profile: try scene.seal(#"{"displayName":"Ada"}"#, SealingContext.profile(in: id)), proofRequired: proofRequired,
            locale: LanguageTag("de"))
    }

    private func withKey(_ id: MessageID) -> AccountDirectory.Records {
        var records = AccountDirectory.Records()
        let key = DataKey(id: DataKeyID(of: id), key: .random())
        records.newKeys[key.id] = key
        return records
    }

    @Test func `a sign-up goes on with everything under its own key, and a hash of its password`() throws {
        let id = MessageID.random()
        let records = withKey(id)
        let request = try scene.request(signUp(.onboarding, id), as: id)
        let command = try scene.command(StartOnboarding.self, of: request, with: records)
        let key = try #require(records.newKeys[DataKeyID(of: id)])
        #expect(command.data.dataKey == key.id)
        #expect(key.text(command.data.identifier, .identifier) == "ada@example.com")
        #expect(key.object(command.data.profile) == ["displayName": "Ada"])
        let text = try #require(key.text(command.data.passwordHash, .passwordHash))
        #expect(try #require(PasswordHash(text)).matches(Array("Correct Horse 1".utf8)))
        #expect(text.hasPrefix("$argon2id$v=19$m=64,t=1,p=1$"))
        #expect(command.notice == nil)
    }

    @Test func `where proof is required, the command brings a notice to the owner of the address`() throws {
        let id = MessageID.random()
        let request = try scene.request(signUp(.onboarding, id, proofRequired: true), as: id)
        let notice = try #require(try scene.command(StartOnboarding.self, of: request, with: withKey(id)).notice)
        let opened = scene.notifier.open(notice.recipient, context: SealingContext.notice(subject: scene.subject))
        #expect(opened == Array("ada@example.com".utf8))
        #expect(notice.locale == LanguageTag("de"))
    }

    @Test func `a registration tells the waiting gateway of the person, and keeps the client under the key`() throws {
        let id = MessageID.random()
        let records = withKey(id)
        let request = try scene.request(signUp(.register, id), as: id, client: "192.0.2.7")
        let command = try scene.command(Register.self, of: request, with: records)
        #expect(
            try scene.opened(command.person, of: request) == [
                "email": "ada@example.com", "phoneNumber": nil, "profile": ["displayName": "Ada"],
            ])
        let key = try #require(records.newKeys.values.first)
        let client = try #require(command.client.flatMap { key.text($0, .client) })
        #expect(client == #"{"address":"192.0.2.7","userAgent":"Phone 1"}"#)
    }

    @Test func `a box that was moved, or whose key is gone, is asked for anew`() throws {
        let id = MessageID.random()
        var check = try signUp(.onboarding, id)
        check.password = check.identifier
        #expect(try scene.reply(to: scene.request(check, as: id), with: withKey(id)).outcome == .stale)
        let stranger = BoxSealer()
        let unknown = RecipientKey(id: "identity:2", publicKey: KeyPair.random().publicKey)
        check.password = try stranger.seal([1], to: unknown, context: SealingContext.password(subject: scene.subject))
        #expect(try scene.reply(to: scene.request(check, as: id), with: withKey(id)).outcome == .stale)
    }

    @Test func `a sign-up whose key was destroyed meanwhile is not decided again`() throws {
        let id = MessageID.random()
        let request = try scene.request(signUp(.onboarding, id), as: id)
        #expect(try scene.reply(to: request, with: AccountDirectory.Records()).outcome == .stale)
    }

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

    // MARK: Signed in

    private func change(_ current: String, _ session: SessionID = .random()) throws -> CheckPasswordChange {
        CheckPasswordChange(
            user: scene.user, session: session,
            current: try scene.seal(current, SealingContext.password(user: scene.user)),
            new: try scene.seal("New Horse 2", SealingContext.newPassword(user: scene.user)))
    }

    @Test func `a password is changed with a hash of the new one, when the old one is right`() throws {
        let records = scene.records(try scene.account())
        let right = try scene.command(ChangePassword.self, of: scene.request(change("Correct Horse 1")), with: records)
        #expect(right.verdict == .right)
        let hash = try #require(right.passwordHash.flatMap { scene.key.text($0, .passwordHash) }.flatMap { PasswordHash($0) })
        #expect(try hash.matches(Array("New Horse 2".utf8)))
        let wrong = try scene.command(ChangePassword.self, of: scene.request(change("New Horse 2")), with: records)
        #expect(wrong.verdict == .wrong && wrong.passwordHash == nil)
    }

    @Test func `an erasure goes on with the verdict`() throws {
        for (password, verdict) in [("Correct Horse 1", PasswordVerdict.right), ("no", .wrong)] {
            let check = CheckErasure(
                user: scene.user, session: .random(),
                password: try scene.seal(password, SealingContext.password(user: scene.user)))
            let command = try scene.command(EraseUser.self, of: scene.request(check), with: scene.records(scene.account()))
            #expect(command.verdict == verdict)
            #expect(command.account == AccountReference(user: scene.user, credentialVersion: 4))
        }
    }

    @Test func `who was erased meanwhile is not signed in`() throws {
        let nobody = AccountDirectory.Records()
        #expect(try scene.reply(to: scene.request(change("x")), with: nobody).outcome == .unauthenticated)
        #expect(try scene.reply(to: scene.request(ReadUser(user: scene.user)), with: nobody).outcome == .unauthenticated)
        let sessions = ReadSessions(user: scene.user, current: .random())
        #expect(try scene.reply(to: scene.request(sessions), with: nobody).outcome == .unauthenticated)
    }

    @Test func `a profile is merged: what is null goes, the rest stays or takes its place`() throws {
        let id = MessageID.random()
        let account = try scene.account(profile: ["displayName": "Ada", "locale": "de", "givenName": "A"])
        let check = CheckProfile(
            target: .user(scene.user),
            patch: try scene.seal(
                #"{"displayName":null,"locale":"en","familyName":"L","timeZone":null}"#, SealingContext.profile(in: id)))
        let request = try scene.request(check, as: id)
        let command = try scene.command(UpdateProfile.self, of: request, with: scene.records(account))
        #expect(scene.key.object(command.profile) == ["givenName": "A", "locale": "en", "familyName": "L"])
        #expect(command.profileVersion == 2)
        #expect(try scene.opened(command.person, of: request)["profile"]?["locale"] == "en")
    }

    @Test func `a reset goes on with a hash under the user's key and a notice`() throws {
        let account = try scene.account()
        let consumed = ResetTokenConsumed(
            subject: scene.subject, account: account.reference,
            password: try scene.seal("New Horse 2", SealingContext.password(subject: scene.subject)))
        let request = try #require(try scene.request(event: consumed))
        let command = try scene.command(FinishReset.self, of: request, with: scene.records(account))
        #expect(command.account == account.reference)
        let hash = try #require(command.passwordHash.flatMap { scene.key.text($0, .passwordHash) }.flatMap { PasswordHash($0) })
        #expect(try hash.matches(Array("New Horse 2".utf8)))
        #expect(command.notice?.locale == LanguageTag("de"))
        #expect(!request.isOver(Timestamp(milliseconds: .max)))
    }

    @Test func `what Verification says again of a reset leads to the same command; its other repeats are replies`() throws {
        let account = try scene.account()
        let consumed = ResetTokenConsumed(
            subject: scene.subject, account: account.reference,
            password: try scene.seal("New Horse 2", SealingContext.password(subject: scene.subject)))
        let first = try #require(try scene.request(event: consumed))
        var message = first.message
        message.type = LogRecordType.repeated
        message.id = .random()
        let again = try #require(try CheckRequest(event: message, received: .now))
        let followUp = FollowUp(authenticator: try EventRelay.authenticator(), partitions: 12)
        let ids = try [first, again].map { request in
            let command = try scene.command(FinishReset.self, of: request, with: scene.records(account))
            #expect(command.passwordHash != nil)
            let record = followUp.record(command, to: scene.subject.routingKey, for: request, remaining: nil)
            return record.headers.first { $0.name == HeaderName.id }?.value
        }
        #expect(ids[0] != nil && ids[0] == ids[1])
        message.data = SchemaCodec.current.encode(Reply(outcome: .ok)).data
        #expect(try CheckRequest(event: message, received: .now) == nil)
    }

    @Test func `a reset of a changed or erased account goes on without a hash`() throws {
        var account = try scene.account()
        let consumed = ResetTokenConsumed(
            subject: scene.subject, account: account.reference,
            password: try scene.seal("New Horse 2", SealingContext.password(subject: scene.subject)))
        let request = try #require(try scene.request(event: consumed))
        account.credentialVersion += 1
        for records in [scene.records(account), AccountDirectory.Records()] {
            let command = try scene.command(FinishReset.self, of: request, with: records)
            #expect(command.passwordHash == nil && command.notice == nil)
        }
    }

    @Test func `other events are none of a check worker's business`() throws {
        let confirmed = CodeConfirmed(subject: scene.subject, purpose: .emailVerification, channel: .email)
        #expect(try scene.request(event: confirmed) == nil)
    }

    // MARK: Onboarding

    @Test func `a completion goes on with the person, whom only the gateway can read`() throws {
        let id = scene.routing.onboardingSessionID(for: scene.subject.routingKey)
        var records = AccountDirectory.Records()
        let token = try scene.seal("token", SealingContext.token(digest: Digest(of: [1])))
        let unknown = CheckCompletion(session: id, token: token, digest: Digest(of: [1]), proofRequired: false)
        #expect(try scene.reply(to: try scene.request(unknown), with: records).outcome == .unauthenticated)
        for (isCompleted, proofRequired) in [(false, false), (true, true)] {
            records.onboarding[id] = scene.onboarding(id, isCompleted: isCompleted)
            let request = try scene.request(
                CheckCompletion(session: id, token: token, digest: Digest(of: [1]), proofRequired: proofRequired))
            let command = try scene.command(CompleteOnboarding.self, of: request, with: records)
            #expect(command.token == token)
            #expect(command.profileVersion == 5)
            #expect(command.proofRequired == proofRequired)
            #expect(try scene.opened(command.person, of: request)["email"] == "ada@example.com")
        }
    }

    @Test func `an onboarding session is read while it is active`() throws {
        let id = scene.routing.onboardingSessionID(for: scene.subject.routingKey)
        var records = AccountDirectory.Records()
        let request = try scene.request(ReadOnboarding(session: id))
        records.onboarding[id] = scene.onboarding(id)
        let reply = try scene.reply(to: request, with: records)
        #expect(reply.data?["session"]?["status"] == "ACTIVE")
        #expect(reply.data?["session"]?["id"] == .string(id.text))
        #expect(try scene.opened(reply.boxes?.first, of: request)["email"] == "ada@example.com")
        records.onboarding[id]?.isCompleted = true
        #expect(try scene.reply(to: request, with: records).outcome == .onboardingCompleted)
    }

    // MARK: Reading

    @Test func `a user is answered with what may be read, and the person sealed`() throws {
        let request = try scene.request(ReadUser(user: scene.user))
        let reply = try scene.reply(to: request, with: scene.records(scene.account()))
        let user = try #require(reply.data?["user"])
        #expect(user["id"] == .string(scene.user.text))
        #expect(user["emailVerifiedAt"] == "1970-01-01T00:00:02.000Z")
        #expect(user["phoneVerifiedAt"] == JSON.null)
        #expect(user["groups"] == ["admin"])
        let sealed = String(decoding: try #require(reply.sealed), as: UTF8.self)
        #expect(!sealed.contains("ada"))
        #expect(try scene.opened(reply.boxes?.first, of: request)["email"] == "ada@example.com")
    }

    @Test func `sessions are listed with masked addresses, all of it sealed`() throws {
        let (current, other) = (SessionID.random(), SessionID.random())
        var records = scene.records(try scene.account())
        let client = scene.key.seal(Array(#"{"address":"192.0.2.7","userAgent":"Phone 1"}"#.utf8), as: .client)
        records.sessions[scene.user] = [
            SessionRecord(
                session: current, startedAt: Timestamp(milliseconds: 1_000), refreshedAt: Timestamp(milliseconds: 2_000),
                client: client),
            SessionRecord(session: other, startedAt: Timestamp(milliseconds: 0), refreshedAt: Timestamp(milliseconds: 0)),
        ]
        let request = try scene.request(ReadSessions(user: scene.user, current: current))
        let reply = try scene.reply(to: request, with: records)
        #expect(reply.data == nil)
        let list = try #require(try scene.opened(reply.boxes?.first, of: request)["sessions"]?.array)
        #expect(
            list == [
                [
                    "id": .string(current.text), "createdAt": "1970-01-01T00:00:01.000Z",
                    "lastUsedAt": "1970-01-01T00:00:02.000Z",
                    "client": "Phone 1", "address": "192.0.***", "current": true,
                ],
                [
                    "id": .string(other.text), "createdAt": "1970-01-01T00:00:00.000Z", "lastUsedAt": "1970-01-01T00:00:00.000Z",
                    "client": nil, "address": nil, "current": false,
                ],
            ])
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
