import Crypto
import EventLog
import EventSchema
import JSON
import TestSupport
import Testing

@testable import IdentityService

/// What check workers make of sign-ups and onboarding sessions.
@Suite struct SignUpCheckTests {
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
}
