import EventLog
import EventLogSimulated
import EventSchema
import IdentityDomain
import IdentityService
import JSON
import Postgres
import TestSupport
import Testing

extension ServiceTests {
    /// What answers hand out: sealed to whoever waits, the same again where that is due, and nowhere readable in the log.
    @Suite struct TokenTests {
        private let scene: IdentityScene
        private let alice = IdentityScene.subject(1)

        init() throws { scene = try IdentityScene() }

        private func registered() async throws -> IdentityScene.Told {
            try await scene.ask(Register(subject: alice, channel: .email, data: .example()), at: alice.routingKey)
        }

        @Test func `an onboarding session comes with its token`() async throws {
            let instance = scene.start()
            let told = try await scene.ask(
                StartOnboarding(subject: alice, channel: .email, data: .example(), proofRequired: false), at: alice.routingKey)
            let session = try #require(told.data?["session"]?["id"]?.string)
            #expect(told.secret("onboardingToken") == "onboarding \(session) 86400000")
            #expect(told.data?["session"]?["status"] == "ACTIVE")
            #expect(told.data?["session"]?["emailVerifiedAt"] == .null)
            let id = try #require(OnboardingSessionID(session))
            #expect(scene.routing.routingKey(of: id) == alice.routingKey)
            instance.stop()
        }

        @Test func `a sign-in comes with tokens that lead back to session and user`() async throws {
            let instance = scene.start()
            let told = try await registered()
            let user = try #require(told.data?["user"]?["id"]?.string)
            let refresh = try #require(told.secret("refreshToken").flatMap { ReferenceToken($0, kind: .refresh) })
            let device = try #require(told.secret("deviceToken").flatMap { ReferenceToken($0, kind: .device) })
            let session = try #require(scene.routing.open(refresh).flatMap { SessionID(bytes: $0.reference) })
            #expect(scene.routing.open(device).flatMap { UserID(bytes: $0.reference) }?.text == user)
            #expect(told.secret("accessToken") == "access \(user) \(session) ")
            #expect(told.secrets["expiresIn"] == 900)
            let rows = try scene.query("SELECT refresh FROM identity.sessions").column([UInt8].self)
            #expect(rows == [refresh.digest.bytes])
            #expect(
                try scene.query("SELECT digest FROM identity.devices_for_gateway").column([UInt8].self) == [device.digest.bytes])
            instance.stop()
        }

        @Test func `a used refresh token gives the same successor, until that is used`() async throws {
            let instance = scene.start()
            let first = try #require(try await registered().secret("refreshToken"))
            let second = try await scene.refresh(first)
            #expect(second.secret("refreshToken") != first)
            #expect(second.secret("deviceToken") == nil)
            for _ in 1...3 {
                #expect(try await scene.refresh(first).secret("refreshToken") == second.secret("refreshToken"))
            }
            let third = try await scene.refresh(try #require(second.secret("refreshToken")))
            #expect(third.outcome == .ok)
            #expect(try await scene.refresh(first).outcome == .refreshTokenInvalid)
            #expect(try await scene.refresh(try #require(third.secret("refreshToken"))).outcome == .refreshTokenInvalid)
            instance.stop()
        }

        @Test func `of many at once with one refresh token, all get one successor`() async throws {
            let instances = [scene.start(), scene.start()]
            let first = try #require(try await registered().secret("refreshToken"))
            let successors = try await withThrowingTaskGroup(of: String?.self) { group in
                for _ in 1...20 { group.addTask { try await scene.refresh(first).secret("refreshToken") } }
                return try await group.reduce(into: Set<String?>()) { $0.insert($1) }
            }
            #expect(successors.count == 1 && !successors.contains(nil))
            for instance in instances { instance.stop() }
        }

        @Test func `a completion that comes again gives the same tokens`() async throws {
            let instance = scene.start()
            let told = try await scene.ask(
                StartOnboarding(subject: alice, channel: .email, data: .example(), proofRequired: false), at: alice.routingKey)
            let session = try #require(told.data?["session"]?["id"]?.string.flatMap { OnboardingSessionID($0) })
            let token = try #require(told.secret("onboardingToken"))
            let first = try await scene.complete(session, token)
            let again = try await scene.complete(session, token)
            #expect(first.outcome == .ok && again.outcome == .ok)
            #expect(again.data == first.data)
            #expect(again.secret("refreshToken") == first.secret("refreshToken"))
            #expect(again.secret("deviceToken") == first.secret("deviceToken"))
            // Another token of the same form earns nothing.
            #expect(try await scene.complete(session, token + "x").outcome == .onboardingCompleted)
            instance.stop()
        }

        @Test func `a presented device keeps its token`() async throws {
            let instance = scene.start()
            let told = try await registered()
            let user = try #require(told.data?["user"]?["id"]?.string.flatMap { UserID($0) })
            let device = try #require(told.secret("deviceToken").flatMap { ReferenceToken($0, kind: .device) })
            let address = try #require(AddressTag(bytes: [1, 2, 3, 4, 5, 6, 7, 8]))
            let login = LogIn(
                subject: alice, account: AccountReference(user: user, credentialVersion: 0), verdict: .right, address: address,
                device: device.digest, profileVersion: 0)
            let again = try await scene.ask(login, at: alice.routingKey)
            #expect(again.outcome == .ok)
            #expect(again.secret("deviceToken") == nil)
            instance.stop()
        }

        @Test func `a blocked login says for how long, now and when it comes again`() async throws {
            let instance = scene.start()
            let address = try #require(AddressTag(bytes: [1, 2, 3, 4, 5, 6, 7, 8]))
            let login = LogIn(subject: alice, account: nil, verdict: .wrong, address: address, profileVersion: 0)
            for _ in 1...5 {
                #expect(try await scene.ask(login, at: alice.routingKey).outcome == .invalidCredentials)
            }
            let id = scene.send(login, at: alice.routingKey)
            let blocked = try await scene.answer(to: id)
            #expect(blocked == IdentityScene.Told(outcome: .rateLimited, data: ["retryAfter": 1], secrets: [:]))
            instance.stop()
        }

        @Test func `what ended is told, so that a gateway can wait until it has seen it`() async throws {
            let instance = scene.start()
            let told = try await registered()
            let user = try #require(told.data?["user"]?["id"]?.string.flatMap { UserID($0) })
            let refresh = try #require(told.secret("refreshToken").flatMap { ReferenceToken($0, kind: .refresh) })
            let session = try #require(scene.routing.open(refresh).flatMap { SessionID(bytes: $0.reference) })
            let ended = try await scene.ask(EndAllSessions(user: user, reason: .logoutAll), at: alice.routingKey)
            #expect(ended.data == ["ended": [.string(session.text)]])
            let again = try await scene.ask(EndAllSessions(user: user, reason: .logoutAll), at: alice.routingKey)
            #expect(again.outcome == .ok)
            instance.stop()
        }

        @Test func `what follows from a consumed token is decided, and answered, however late`() async throws {
            let instance = scene.start()
            let told = try await registered()
            let user = try #require(told.data?["user"]?["id"]?.string.flatMap { UserID($0) })
            let finish = FinishReset(
                subject: alice, account: AccountReference(user: user, credentialVersion: 0), passwordHash: .example())
            #expect(try await scene.ask(finish, at: alice.routingKey, budget: nil).outcome == .ok)
            #expect(try await scene.ask(finish, at: alice.routingKey, budget: nil).outcome == .resetTokenInvalid)
            instance.stop()
        }

        @Test func `no token stands readable in the log`() async throws {
            let instance = scene.start()
            let told = try await registered()
            let refreshed = try await scene.refresh(try #require(told.secret("refreshToken")))
            instance.stop()
            let values = (0..<IdentityScene.partitions).flatMap { partition in
                [Topic.identityEvents, .identityCommands, .replies].flatMap { topic in
                    scene.log.records(of: TopicPartition(topic, partition)).map { String(decoding: $0.value, as: UTF8.self) }
                }
            }
            let tokens = [told.secret("refreshToken"), told.secret("deviceToken"), refreshed.secret("refreshToken")]
            for token in tokens.compactMap({ $0 }) { #expect(!values.contains { $0.contains(token) }) }
            #expect(tokens.count { $0 != nil } == 3)
        }
    }
}
