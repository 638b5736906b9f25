import Crypto
import EventSchema
import NotifierDomain
import TestSupport
import Testing

@testable import NotifierService

extension ServiceTests {
    /// What Identity did and somebody is to be told of.
    @Suite struct NoticeTests {
        private let scene: NotifierScene
        private let provider = ScriptedProvider()
        private let subject = SealedCodes.subject(1)

        init() throws { scene = try NotifierScene() }

        private static func ciphertext() throws -> Ciphertext { try #require(Ciphertext(bytes: Random.bytes(60))) }

        private func reset(_ notice: Notice?) throws -> PasswordReset {
            let user = try #require(UserID("00000000-0000-8000-8000-000000000001"))
            return PasswordReset(
                subject: subject, account: AccountReference(user: user, credentialVersion: 1),
                passwordHash: try Self.ciphertext(), ended: [], droppedDevices: [], notice: notice)
        }

        private func started(_ channel: Channel, _ notice: Notice?) throws -> OnboardingStarted {
            OnboardingStarted(
                subject: subject, channel: channel, session: OnboardingSessionID(uuid: MessageID.random().uuid),
                data: PersonalData(
                    dataKey: DataKeyID(of: .random()), identifier: try Self.ciphertext(), passwordHash: try Self.ciphertext()),
                expiresAt: scene.clock.now + .hours(24), proof: .none, superseded: [], notice: notice)
        }

        private var messages: [OutgoingMessage] { provider.calls.flatMap(\.self) }

        @Test func `a reset password and a sign-up are told to the owner of the address, once each`() async throws {
            let instance = try scene.start([provider])
            let notice = try scene.sealing.notice(subject: subject)
            // What asks for nothing, first.
            scene.identity.emit(try reset(nil), about: subject)
            scene.identity.emit(try started(.email, nil), about: subject)
            scene.identity.emit(try started(.sms, notice), about: subject)
            scene.identity.emit(try reset(notice), about: subject)
            scene.identity.emit(try started(.email, notice), about: subject)
            #expect(try await waitUntil { messages.count == 2 && scene.count("delivered") == 2 })
            #expect(messages.map(\.purpose) == [.passwordWasReset, .signUpAttempted])
            for message in messages {
                #expect(message.recipient == SealedCodes.recipient)
                #expect(message.code == nil)
                #expect(message.locale == LanguageTag("de"))
                #expect(message.subject?.isEmpty == false && message.html != nil)
                #expect(message.expiresAt - message.requestedAt == .hours(24))
            }
            try await instance.stop()
        }

        @Test func `a notice that was sealed for something else is not sent`() throws {
            let composer = MessageComposer(opener: scene.sealing.opener, templates: try MessageTemplates())
            let code = try scene.sealing.attempt(requestedAt: scene.clock.now)
            var notice = code
            notice.purpose = .passwordWasReset
            notice.code = nil
            #expect(composer.compose(notice, at: scene.clock.now) == .unreadable)
            var codeless = code
            codeless.code = nil
            #expect(composer.compose(codeless, at: scene.clock.now) == .unreadable)
        }
    }
}
