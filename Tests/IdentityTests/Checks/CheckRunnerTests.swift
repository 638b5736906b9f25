import Crypto
import EventLog
import EventLogSimulated
import EventSchema
import JSON
import Postgres
import Runtime
import Synchronization
import TestSupport
import Testing

@testable import IdentityService

extension ServiceTests {
    /// From checks in the log to answers, by way of Identity's loop.
    @Suite struct CheckRunnerTests {
        private let scene: IdentityScene
        private let gateway: CheckGateway
        private let ada: Subject

        init() throws {
            scene = try IdentityScene()
            gateway = try CheckGateway(scene)
            ada = scene.routing.subject(kind: .email, canonical: "ada@example.com")
        }

        private func register(password: String = "Correct Horse 1") async throws -> IdentityScene.Told {
            let id = MessageID.random()
            return try await gateway.ask(
                CheckSignUp(
                    subject: ada, channel: .email, kind: .register,
                    identifier: gateway.seal("ada@example.com", SealingContext.identifier(subject: ada)),
                    password: gateway.seal(password, SealingContext.password(subject: ada)),
                    profile: gateway.seal(#"{"displayName":"Ada"}"#, SealingContext.profile(in: id)), proofRequired: false),
                at: ada.routingKey, as: id)
        }

        private func logIn(_ password: String, _ subject: Subject? = nil) async throws -> IdentityScene.Told {
            let subject = subject ?? ada
            return try await gateway.ask(
                CheckLogin(
                    subject: subject, password: gateway.seal(password, SealingContext.password(subject: subject))),
                at: subject.routingKey)
        }

        private func user(in told: IdentityScene.Told) throws -> UserID {
            try #require(told.data?["user"]?["id"]?.string.flatMap { UserID($0) })
        }

        private func session(in told: IdentityScene.Told) throws -> SessionID {
            let words = try #require(told.secret("accessToken")).split(separator: " ")
            return try #require(SessionID(String(words[2])))
        }

        @Test func `somebody registers, logs in, is read, changes, and is erased`() async throws {
            let instance = scene.start()
            let runner = try gateway.start()
            let registered = try await register()
            #expect(registered.outcome == .ok)
            #expect(registered.secret("email") == "ada@example.com")
            #expect(registered.secrets["profile"] == ["displayName": "Ada"])
            let user = try user(in: registered)

            #expect(try await logIn("Correct Horse 2").outcome == .invalidCredentials)
            #expect(
                try await logIn("Correct Horse 1", scene.routing.subject(kind: .email, canonical: "x@y.z")).outcome
                    == .invalidCredentials)
            let login = try await logIn("Correct Horse 1")
            #expect(login.outcome == .ok)
            #expect(login.secret("email") == "ada@example.com")
            let session = try session(in: login)

            let patch = MessageID.random()
            let changed = try await gateway.ask(
                CheckProfile(
                    target: .user(user),
                    patch: gateway.seal(#"{"displayName":null,"locale":"en"}"#, SealingContext.profile(in: patch))),
                at: ada.routingKey, as: patch)
            #expect(changed.outcome == .ok)
            let read = try await gateway.ask(ReadUser(user: user), at: ada.routingKey)
            #expect(read.secrets["profile"] == ["locale": "en"])
            #expect(read.data?["user"]?["id"] == .string(user.text))

            let listed = try await gateway.ask(ReadSessions(user: user, current: session), at: ada.routingKey)
            #expect(listed.secrets["sessions"]?.array?.count == 2)
            #expect(listed.secrets["sessions"]?.array?.filter { $0["current"] == true }.count == 1)

            let change = CheckPasswordChange(
                user: user, session: session, current: try gateway.seal("Correct Horse 1", SealingContext.password(user: user)),
                new: try gateway.seal("New Horse 2", SealingContext.newPassword(user: user)))
            #expect(try await gateway.ask(change, at: ada.routingKey).outcome == .ok)
            #expect(try await logIn("Correct Horse 1").outcome == .invalidCredentials)
            #expect(try await logIn("New Horse 2").outcome == .ok)

            let erase = CheckErasure(
                user: user, session: session, password: try gateway.seal("New Horse 2", SealingContext.password(user: user)))
            #expect(try await gateway.ask(erase, at: ada.routingKey).outcome == .ok)
            #expect(try await gateway.ask(ReadUser(user: user), at: ada.routingKey).outcome == .unauthenticated)
            #expect(try await logIn("New Horse 2").outcome == .invalidCredentials)
            let keys = try scene.query("SELECT reason FROM identity_keys.data_keys WHERE wrapped IS NULL").column(String.self)
            #expect(keys == ["erased"])
            runner.stop()
            instance.stop()
        }

        @Test func `an onboarding session is started, changed, read, completed`() async throws {
            let instance = scene.start()
            let runner = try gateway.start()
            let started = try await gateway.ask(
                CheckSignUp(
                    subject: ada, channel: .email, kind: .onboarding,
                    identifier: gateway.seal("ada@example.com", SealingContext.identifier(subject: ada)),
                    password: gateway.seal("Correct Horse 1", SealingContext.password(subject: ada)), proofRequired: false),
                at: ada.routingKey)
            let id = try #require(started.data?["session"]?["id"]?.string.flatMap { OnboardingSessionID($0) })
            let token = try #require(started.secret("onboardingToken"))
            let patch = MessageID.random()
            let changed = try await gateway.ask(
                CheckProfile(
                    target: .onboarding(id),
                    patch: gateway.seal(#"{"displayName":"Ada"}"#, SealingContext.profile(in: patch))),
                at: ada.routingKey, as: patch)
            #expect(changed.outcome == .ok)
            let read = try await gateway.ask(ReadOnboarding(session: id), at: ada.routingKey)
            #expect(read.secrets["profile"] == ["displayName": "Ada"])
            let digest = Digest(of: Array(token.utf8))
            let completion = CheckCompletion(
                session: id, token: try gateway.seal(token, SealingContext.token(digest: digest)), digest: digest,
                proofRequired: false)
            let completed = try await gateway.ask(completion, at: ada.routingKey)
            #expect(completed.outcome == .ok)
            #expect(completed.secret("email") == "ada@example.com")
            #expect(completed.secrets["profile"] == ["displayName": "Ada"])
            let again = try await gateway.ask(completion, at: ada.routingKey)
            #expect(again.secret("refreshToken") == completed.secret("refreshToken"))
            #expect(try await gateway.ask(ReadOnboarding(session: id), at: ada.routingKey).outcome == .onboardingCompleted)
            #expect(try await logIn("Correct Horse 1").outcome == .ok)
            runner.stop()
            instance.stop()
        }

        /// An instance that dies leaves checks that it had sent on; another takes them again, and finds what they have changed.
        @Test func `whatever is taken again is answered as it was`() async throws {
            let instance = scene.start()
            let runner = try gateway.start()
            func askTwice(_ check: some Message, as id: MessageID = .random()) async throws -> IdentityScene.Told {
                let first = try await gateway.ask(check, at: ada.routingKey, as: id)
                try gateway.send(check, at: ada.routingKey, as: id)
                let second = try await scene.answer(to: id, after: 1)
                #expect(second.outcome == first.outcome && second.data == first.data, "\(check)")
                return first
            }
            let signUp = CheckSignUp(
                subject: ada, channel: .email, kind: .onboarding,
                identifier: try gateway.seal("ada@example.com", SealingContext.identifier(subject: ada)),
                password: try gateway.seal("Correct Horse 1", SealingContext.password(subject: ada)), proofRequired: false)
            let started = try await askTwice(signUp)
            let id = try #require(started.data?["session"]?["id"]?.string.flatMap { OnboardingSessionID($0) })
            let token = try #require(started.secret("onboardingToken"))
            func patch(_ target: ProfileTarget, _ patch: String) async throws -> IdentityScene.Told {
                let id = MessageID.random()
                return try await askTwice(
                    CheckProfile(target: target, patch: gateway.seal(patch, SealingContext.profile(in: id))), as: id)
            }
            #expect(try await patch(.onboarding(id), #"{"displayName":"Ada"}"#).outcome == .ok)
            let digest = Digest(of: Array(token.utf8))
            let completed = try await askTwice(
                CheckCompletion(
                    session: id, token: gateway.seal(token, SealingContext.token(digest: digest)), digest: digest,
                    proofRequired: false))
            let (user, session) = (try user(in: completed), try session(in: completed))
            #expect(try await patch(.user(user), #"{"displayName":null}"#).outcome == .ok)
            func logIn(_ password: String) async throws -> Reply.Outcome {
                try await askTwice(
                    CheckLogin(subject: ada, password: gateway.seal(password, SealingContext.password(subject: ada)))
                ).outcome
            }
            #expect(try await logIn("Correct Horse 1") == .ok)
            #expect(try await logIn("Wrong Horse 1") == .invalidCredentials)
            let change = CheckPasswordChange(
                user: user, session: session, current: try gateway.seal("Correct Horse 1", SealingContext.password(user: user)),
                new: try gateway.seal("New Horse 2", SealingContext.newPassword(user: user)))
            #expect(try await askTwice(change).outcome == .ok)
            for (password, outcome) in [("Wrong Horse 1", Reply.Outcome.invalidCredentials), ("New Horse 2", .ok)] {
                let erase = CheckErasure(
                    user: user, session: session, password: try gateway.seal(password, SealingContext.password(user: user)))
                #expect(try await askTwice(erase).outcome == outcome)
            }
            // Who asks anew is told how it is now.
            let late = CheckErasure(
                user: user, session: session, password: try gateway.seal("New Horse 2", SealingContext.password(user: user)))
            #expect(try await askTwice(late).outcome == .unauthenticated)
            runner.stop()
            instance.stop()
        }

        @Test func `a consumed reset token sets the password, also when nobody worked when it was consumed`() async throws {
            let instance = scene.start()
            var runner = try gateway.start()
            let user = try user(in: try await register())
            runner.stop()
            let consumed = ResetTokenConsumed(
                subject: ada, account: AccountReference(user: user, credentialVersion: 0),
                password: try gateway.seal("New Horse 2", SealingContext.password(subject: ada)))
            scene.relay.emit(consumed, about: ada, replyTo: scene.address)
            runner = try gateway.start()
            #expect(
                try await waitUntil {
                    try scene.query("SELECT credential_version FROM identity.users").column(Int64.self) == [1]
                })
            #expect(try await logIn("New Horse 2").outcome == .ok)
            runner.stop()
            // Another one reads it again, if its predecessor had no time to say that it is done: it changes nothing.
            runner = try gateway.start()
            #expect(try await logIn("New Horse 2").outcome == .ok)
            #expect(try scene.query("SELECT credential_version FROM identity.users").column(Int64.self) == [1])
            runner.stop()
            instance.stop()
        }

        @Test func `a consumed reset token that comes again is answered as it was`() async throws {
            let instance = scene.start()
            let runner = try gateway.start()
            let user = try user(in: try await register())
            let consumed = ResetTokenConsumed(
                subject: ada, account: AccountReference(user: user, credentialVersion: 0),
                password: try gateway.seal("New Horse 2", SealingContext.password(subject: ada)))
            let before = scene.replies.count
            for count in 1...2 {
                scene.relay.emit(consumed, about: ada, replyTo: scene.address)
                #expect(try await waitUntil { scene.replies.count == before + count })
            }
            let told = scene.replies.dropFirst(before)
            #expect(told.map(\.outcome) == ["ok", "ok"])
            #expect(Set(told.map(\.cause)).count == 1)
            #expect(try scene.query("SELECT credential_version FROM identity.users").column(Int64.self) == [1])
            #expect(try await logIn("New Horse 2").outcome == .ok)
            runner.stop()
            instance.stop()
        }

        @Test func `a blocked login is not checked, account or not`() async throws {
            let instance = scene.start()
            let runner = try gateway.start()
            #expect(try await register().outcome == .ok)
            let nobody = scene.routing.subject(kind: .email, canonical: "nobody@example.com")
            for subject in [ada, nobody] {
                var told: [Reply.Outcome] = []
                for _ in 1...7 { told.append(try await logIn("Correct Horse 2", subject).outcome) }
                #expect(told == Array(repeating: .invalidCredentials, count: 5) + [.rateLimited, .rateLimited])
                #expect(verdicts(of: subject) == Array(repeating: .wrong, count: 5) + [.unchecked, .unchecked])
            }
            // The right password waits as well, and is taken when the block is over.
            #expect(try await logIn("Correct Horse 1").outcome == .rateLimited)
            scene.clock.advance(by: .seconds(2))
            // The time is learnt from what is appended.
            _ = try await logIn("x", scene.routing.subject(kind: .email, canonical: "else@example.com"))
            #expect(try await logIn("Correct Horse 1").outcome == .ok)
            #expect(verdicts(of: ada).suffix(2) == [.unchecked, .right])
            runner.stop()
            instance.stop()
        }

        private func verdicts(of subject: Subject) -> [PasswordVerdict] {
            let partition = TopicPartition(.identityCommands, IdentityScene.partition(of: subject))
            return scene.log.records(of: partition).compactMap { record in
                try? SchemaCodec.current.decode(LogIn.self, type: LogIn.type.rawValue, data: record.value)
            }.filter { $0.subject == subject }.map(\.verdict)
        }

        @Test func `tells up to where everything is done`() async throws {
            let instance = scene.start()
            let runner = try gateway.start()
            _ = try await logIn("x")
            scene.confirm(ada)
            let partition = IdentityScene.partition(of: ada)
            for topic in CheckRunner.inboxes {
                let place = TopicPartition(topic, partition)
                let end = try #require(try await waitUntil { scene.log.records(of: place).last.map { $0.offset + 1 } })
                #expect(try await waitUntil { runner.done[place] == end }, "\(place)")
            }
            runner.stop()
            instance.stop()
        }

        @Test func `tells of every partition, also where nothing comes any more`() async throws {
            let instance = scene.start()
            scene.confirm(ada)
            let places = CheckRunner.inboxes.flatMap { topic in
                (0..<IdentityScene.partitions).map { TopicPartition(topic, $0) }
            }
            let confirmed = TopicPartition(.verificationEvents, IdentityScene.partition(of: ada))
            #expect(try await waitUntil { !scene.log.records(of: confirmed).isEmpty })
            // The second one finds the committed positions of the first.
            for _ in 1...2 {
                let runner = try gateway.start()
                #expect(
                    try await waitUntil {
                        places.allSatisfy { runner.done[$0] == Int64(scene.log.records(of: $0).count) }
                    })
                runner.stop()
            }
            instance.stop()
        }

        @Test func `what is past its budget is dropped before it is hashed`() async throws {
            let late = try gateway.send(
                CheckLogin(subject: ada, password: gateway.seal("x", SealingContext.password(subject: ada))),
                at: ada.routingKey, budget: .milliseconds(1))
            scene.clock.advance(by: .seconds(5))
            let runner = try gateway.start()
            let instance = scene.start()
            #expect(try await logIn("Correct Horse 1").outcome == .invalidCredentials)
            #expect(scene.told[late] == nil)
            let ids = (0..<IdentityScene.partitions).flatMap { scene.log.records(of: TopicPartition(.identityCommands, $0)) }
                .compactMap { $0.header(HeaderName.id).map { String(decoding: $0, as: UTF8.self) } }
            #expect(!ids.contains(late.text))
            runner.stop()
            instance.stop()
        }

        @Test func `a clock that was set back lets no check look late`() async throws {
            let instance = scene.start()
            let runner = try gateway.start()
            #expect(try await register().outcome == .ok)
            scene.clock.advance(by: .seconds(-7_200))
            #expect(try await logIn("Correct Horse 1").outcome == .ok)
            runner.stop()
            instance.stop()
        }

        @Test func `junk in the work queue harms nobody`() async throws {
            let instance = scene.start()
            let producer = try scene.log.makeProducer(client: "junk")
            let partition = TopicPartition(.identityChecks, IdentityScene.partition(of: ada))
            let forged = OutgoingRecord(partition: partition, key: [1], headers: [], value: [1, 2, 3])
            producer.append(forged) { _ in }
            producer.append(scene.authenticator.sealed(forged)) { _ in }
            let runner = try gateway.start()
            #expect(try await logIn("x").outcome == .invalidCredentials)
            runner.stop()
            instance.stop()
        }

        @Test func `two instances share the work`() async throws {
            let instance = scene.start()
            let runners = [try gateway.start(), try gateway.start()]
            let subjects = (0..<24).map { scene.routing.subject(kind: .email, canonical: "\($0)@example.com") }
            let ids = try subjects.map { subject in
                try gateway.send(
                    CheckLogin(subject: subject, password: gateway.seal("x", SealingContext.password(subject: subject))),
                    at: subject.routingKey)
            }
            for id in ids { #expect(try await scene.answer(to: id).outcome == .invalidCredentials) }
            for runner in runners { runner.stop() }
            instance.stop()
        }
    }
}

/// A gateway that sends checks, and instances that work on them.
final class CheckGateway: Sendable {
    private let scene: IdentityScene
    private let sealer = BoxSealer()
    private let producer: any LogProducer

    init(_ scene: IdentityScene) throws {
        self.scene = scene
        producer = try scene.log.makeProducer(client: "gateway")
    }

    func seal(_ text: String, _ context: [UInt8]) throws -> Box {
        try sealer.seal(Array(text.utf8), to: scene.ownKey, context: context)
    }

    @discardableResult
    func send(_ check: some Message, at home: RoutingKey, as id: MessageID = .random(), budget: Interval = .seconds(60)) throws
        -> MessageID
    {
        let encoded = SchemaCodec.current.encode(check)
        let client = try seal(#"{"address":"192.0.2.7","userAgent":"Phone 1"}"#, SealingContext.client(of: id))
        let record = OutgoingRecord(
            partition: TopicPartition(.identityChecks, home.partition(among: IdentityScene.partitions)), key: home.bytes,
            headers: [
                Header(HeaderName.id, id.text), Header(HeaderName.type, encoded.type),
                Header(HeaderName.budget, String(budget.milliseconds)), Header(HeaderName.replyTo, scene.address.encoded),
                Header(HeaderName.client, client.encoded),
            ], value: encoded.data)
        producer.append(scene.authenticator.sealed(record)) { _ in }
        return id
    }

    func ask(_ check: some Message, at home: RoutingKey, as id: MessageID = .random()) async throws -> IdentityScene.Told {
        try await scene.answer(to: send(check, at: home, as: id))
    }

    /// Starts an instance's workers.
    func start() throws -> Workers {
        Workers(
            try CheckRunner(
                log: scene.log, authenticator: scene.authenticator, secret: CheckScene.secret, routing: scene.routing,
                opener: scene.opener, sealer: BoxSealer(), notifier: { nil }, cost: CheckScene.cost, threads: 2,
                database: IdentityScene.configuration(of: scene.database),
                context: ServiceContext(logger: Logger(service: "test", level: .error)), time: LogTime()))
    }

    final class Workers: Sendable {
        private let thread: WorkerThread
        private let runner: CheckRunner

        var done: [TopicPartition: Int64] { runner.done }

        init(_ runner: CheckRunner) {
            self.runner = runner
            thread = WorkerThread(name: "checks") { stop in try runner.serve(until: stop) }
            thread.start()
        }

        func stop() {
            thread.stop.raise()
            _ = thread.join(within: .seconds(10))
        }

        deinit { stop() }
    }
}
