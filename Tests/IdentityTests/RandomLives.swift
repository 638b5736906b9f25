import Crypto
import EventSchema
import IdentityDomain
import JSON
import SeededRandom
import TestSupport

/// Draws commands that may make sense for some homes as they stand, and some that do not.
struct RandomLives {
    private var random: SeededGenerator
    private let scene: IdentityScene
    private let subjects = (1...5).map { IdentityScene.subject($0) }
    private var refreshTokens: [String] = []
    private var onboardingTokens: [(session: OnboardingSessionID, token: String)] = []
    private var confirmations: [MessageID] = []
    /// How often each outcome was told.
    private(set) var outcomes: [String: Int] = [:]

    init(seed: UInt64, scene: IdentityScene) {
        random = SeededGenerator(seed: seed)
        self.scene = scene
    }

    mutating func pause() -> Interval {
        [.zero, .seconds(1), .seconds(20), .seconds(45), .minutes(5), .minutes(20)].randomElement(using: &random)!
    }

    mutating func learn(_ told: IdentityScene.Told) {
        outcomes[told.outcome.rawValue, default: 0] += 1
        if let token = told.secret("refreshToken") { refreshTokens.append(token) }
        if let token = told.secret("onboardingToken"),
            let id = told.data?["session"]?["id"]?.string.flatMap({ OnboardingSessionID($0) })
        {
            onboardingTokens.append((id, token))
        }
    }

    /// Sends a few commands at once.
    mutating func round(_ homes: [RoutingKey: Home.State]) -> [MessageID] {
        (0..<8).compactMap { _ in
            let subject = subjects.randomElement(using: &random)!
            return send(subject, homes[subject.routingKey] ?? Home.initial)
        }
    }

    private mutating func send(_ subject: Subject, _ home: Home.State) -> MessageID? {
        let key = subject.routingKey
        let user = home.contacts[subject]?.account
        let account = user.flatMap { id in
            home.users[id].map { AccountReference(user: id, credentialVersion: $0.credentialVersion) }
        }
        let session = home.sessions.first { $0.value.user == user }?.key
        let verdict: PasswordVerdict = [.right, .right, .wrong, .unchecked].randomElement(using: &random)!
        switch Int.random(in: 0..<22, using: &random) {
        case 0:
            scene.confirm(subject)
            return nil
        case 1...3:
            return scene.send(
                StartOnboarding(
                    subject: subject, channel: .email, data: .example(), proofRequired: Bool.random(using: &random),
                    notice: Notice(recipient: .example())), at: key)
        case 4, 5:
            guard let (session, token) = onboardingTokens.randomElement(using: &random) else { return nil }
            let home = scene.routing.routingKey(of: session)
            return scene.send(
                CompleteOnboarding(
                    session: session, token: seal(token), digest: Digest(of: Array(token.utf8)), proofRequired: false,
                    profileVersion: Int64.random(in: 0...1, using: &random) / 2, client: .example()), at: home)
        case 6: return scene.send(Register(subject: subject, channel: .email, data: .example(), client: .example()), at: key)
        case 7...11:
            let version = user.flatMap { home.users[$0]?.profileVersion } ?? 0
            let device = home.devices.first { $0.value.user == user }?.key
            return scene.send(
                LogIn(
                    subject: subject, account: account, verdict: verdict, rehash: Bool.random(using: &random) ? .example() : nil,
                    address: AddressTag(bytes: [UInt8](repeating: UInt8.random(in: 1...3, using: &random), count: 8))!,
                    device: Bool.random(using: &random) ? device : nil, profileVersion: version, client: .example()), at: key)
        case 12...14:
            guard let text = refreshTokens.randomElement(using: &random), let token = ReferenceToken(text, kind: .refresh),
                let (home, reference) = scene.routing.open(token), let session = SessionID(bytes: reference)
            else { return nil }
            let box = try? scene.sealer.seal(
                token.bytes, to: scene.ownKey, context: SealingContext.token(digest: token.digest))
            return scene.send(RefreshSession(session: session, token: box!, digest: token.digest), at: home)
        case 15:
            guard let session else { return nil }
            return scene.send(EndSession(session: session, user: user, reason: .revoked), at: key)
        case 16:
            guard let account, let session else { return nil }
            return scene.send(
                ChangePassword(account: account, session: session, verdict: verdict, passwordHash: .example()), at: key)
        case 17:
            guard let user else { return nil }
            return scene.send(
                UpdateProfile(target: .user(user), profile: .example(), profileVersion: home.users[user]?.profileVersion ?? 0),
                at: key)
        case 18:
            guard let (id, onboarding) = home.onboarding.randomElement(using: &random) else { return nil }
            return scene.send(
                UpdateProfile(target: .onboarding(id), profile: .example(), profileVersion: onboarding.profileVersion), at: key)
        case 19:
            guard let account else { return nil }
            return scene.send(
                FinishReset(
                    subject: subject, account: account, passwordHash: .example(), notice: Notice(recipient: .example())), at: key,
                budget: nil)
        case 20:
            guard let user else { return nil }
            if Bool.random(using: &random) {
                return scene.send(SetGroups(user: user, groups: ["testing", "a\"b,c"]), at: key)
            }
            return home.users[user]?.isDisabled == true
                ? scene.send(EnableUser(user: user), at: key) : scene.send(DisableUser(user: user), at: key)
        default:
            guard let account, let session else { return nil }
            return scene.send(EraseUser(account: account, session: session, verdict: .right), at: key)
        }
    }

    private func seal(_ token: String) -> Box {
        try! scene.sealer.seal(
            Array(token.utf8), to: scene.ownKey, context: SealingContext.token(digest: Digest(of: Array(token.utf8))))
    }
}
