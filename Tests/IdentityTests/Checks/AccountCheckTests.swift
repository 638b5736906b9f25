import Crypto
import EventLog
import EventSchema
import JSON
import TestSupport
import Testing

@testable import IdentityService

/// What check workers make of what people who have an account ask for.
@Suite struct AccountCheckTests {
    private let scene: CheckScene

    init() throws { scene = try CheckScene() }

    // MARK: Signed in

    private func change(_ current: String, _ session: SessionID = .random()) throws -> CheckPasswordChange {
        CheckPasswordChange(
            user: scene.user, session: session,
            current: try scene.seal(current, SealingContext.password(user: scene.user)),
            new: try scene.seal("New Horse 2", SealingContext.newPassword(user: scene.user)))
    }

    private func erasure(_ password: String) throws -> CheckErasure {
        CheckErasure(
            user: scene.user, session: .random(),
            password: try scene.seal(password, SealingContext.password(user: scene.user)))
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
            let request = try scene.request(erasure(password))
            let command = try scene.command(EraseUser.self, of: request, with: scene.records(scene.account()))
            #expect(command.verdict == verdict)
            #expect(command.account == AccountReference(user: scene.user, credentialVersion: 4))
        }
    }

    @Test func `who was erased meanwhile is not signed in`() throws {
        let nobody = AccountDirectory.Records()
        #expect(try scene.reply(to: scene.request(ReadUser(user: scene.user)), with: nobody).outcome == .unauthenticated)
        let sessions = ReadSessions(user: scene.user, current: .random())
        #expect(try scene.reply(to: scene.request(sessions), with: nobody).outcome == .unauthenticated)
    }

    @Test func `who was erased, by the same check perhaps, is left to who decides`() throws {
        let nobody = AccountDirectory.Records()
        let erase = try scene.command(EraseUser.self, of: scene.request(erasure("Correct Horse 1")), with: nobody)
        #expect(erase.account.user == scene.user && erase.verdict == .unchecked)
        let change = try scene.command(ChangePassword.self, of: scene.request(change("Correct Horse 1")), with: nobody)
        #expect(change.account.user == scene.user && change.verdict == .unchecked && change.passwordHash == nil)
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
}
