internal import Crypto
internal import EventSchema
internal import IdentityService
import SeededRandom

/// Draws what happens to people whose homes are in one partition: sign-ups, at once or by onboarding, logins, refreshes,
/// failures, resets, erasures.
struct MadeUpLives {
    private struct Person {
        var subject: Subject
        var user: UserSummary
        var key: DataKey
        var version: Int64 = 0
        var profileVersion: Int64 = 0
        var failures: Int64 = 0
        var device: Digest
        var sessions: [SessionID]
    }

    private struct Joining {
        var subject: Subject
        var session: OnboardingSessionID
        var key: DataKey
    }

    private let partition: Int
    private let partitions: Int
    private let routing: Routing
    private var random: SeededGenerator
    private var keys: KeySupply
    private var people: [Person] = []
    private var joining: [Joining] = []
    private var now = Timestamp(milliseconds: 1_790_000_000_000)

    init(seed: UInt64, partition: Int, of partitions: Int, routing: Routing, keys: KeySupply) {
        self.partition = partition
        self.partitions = partitions
        self.routing = routing
        self.keys = keys
        // Sequences from neighbouring seeds would be parts of each other.
        var seeds = SeededGenerator(seed: seed)
        random = seeds.fork()
    }

    mutating func next() throws -> (IdentityEvent, RoutingKey, String, Timestamp) {
        now = now + .milliseconds(Int64.random(in: 0...200, using: &random))
        // Of a hundred events.
        switch people.isEmpty ? 0 : Int.random(in: 0..<100, using: &random) {
        case 0..<6: return try register()
        case 6..<13: return try startOnboarding()
        case 13..<18: return joining.isEmpty ? try startOnboarding() : complete()
        case 18..<24: return verify()
        case 24..<52: return logIn()
        case 52..<80: return refresh()
        case 80..<88: return fail()
        case 88..<94: return logOut()
        case 94..<96: return updateProfile()
        case 96..<98: return reset()
        case 98: return changePassword()
        default: return people.count > 10 ? erase() : logIn()
        }
    }

    // MARK: Signing up

    private mutating func register() throws -> (IdentityEvent, RoutingKey, String, Timestamp) {
        let (subject, key) = (newSubject(), try keys.next())
        let user = UserSummary(
            user: routing.userID(for: subject.routingKey), createdAt: now, emailVerifiedAt: nil, groups: [])
        let session = newSession(key)
        people.append(Person(subject: subject, user: user, key: key, device: session.device, sessions: [session.session]))
        return at(
            subject,
            .userRegistered(
                UserRegistered(
                    subject: subject, channel: .email, user: user, proven: false, data: data(key), session: session,
                    reply: box(180), person: box(120))))
    }

    private mutating func startOnboarding() throws -> (IdentityEvent, RoutingKey, String, Timestamp) {
        let (subject, key) = (newSubject(), try keys.next())
        let session = routing.onboardingSessionID(for: subject.routingKey)
        joining.append(Joining(subject: subject, session: session, key: key))
        return at(
            subject,
            .onboardingStarted(
                OnboardingStarted(
                    subject: subject, channel: .email, session: session, data: data(key), expiresAt: now + .hours(24),
                    proof: .none, superseded: [], reply: box(400))))
    }

    private mutating func complete() -> (IdentityEvent, RoutingKey, String, Timestamp) {
        let joined = joining.remove(at: Int.random(in: joining.indices, using: &random))
        let user = UserSummary(user: routing.userID(for: joined.subject.routingKey), createdAt: now, groups: [])
        let session = newSession(joined.key)
        people.append(
            Person(subject: joined.subject, user: user, key: joined.key, device: session.device, sessions: [session.session]))
        return at(
            joined.subject,
            .userRegistered(
                UserRegistered(
                    subject: joined.subject, channel: .email, user: user, proven: false, completed: joined.session,
                    session: session, successor: box(160), reply: box(180))))
    }

    private mutating func verify() -> (IdentityEvent, RoutingKey, String, Timestamp) {
        let index = somebody()
        let person = people[index]
        if person.user.emailVerifiedAt == nil { people[index].user.emailVerifiedAt = now }
        return at(
            person.subject,
            .contactVerified(
                ContactVerified(
                    subject: person.subject, channel: .email, verifiedAt: now, user: person.user.user, sessions: [],
                    flagUntil: nil, confirmation: .random(), command: .random())))
    }

    // MARK: Signing in

    private mutating func logIn() -> (IdentityEvent, RoutingKey, String, Timestamp) {
        let index = somebody()
        let isNewDevice = Int.random(in: 0..<4, using: &random) == 0
        let session = newSession(people[index].key, device: isNewDevice ? nil : people[index].device)
        people[index].device = session.device
        people[index].failures = 0
        let ended = people[index].sessions.count > 8 ? [people[index].sessions.removeFirst()] : []
        people[index].sessions.append(session.session)
        return at(
            people[index].subject,
            .sessionStarted(
                SessionStarted(
                    subject: people[index].subject, user: people[index].user, session: session, ended: ended,
                    droppedDevices: [], reply: box(180), person: box(120))))
    }

    private mutating func refresh() -> (IdentityEvent, RoutingKey, String, Timestamp) {
        let person = people[somebody()]
        guard let session = person.sessions.randomElement(using: &random) else { return logIn() }
        return at(
            person,
            .sessionRefreshed(
                SessionRefreshed(
                    user: person.user.user, session: session, refresh: digest(), successor: box(120), reply: box(160))))
    }

    private mutating func fail() -> (IdentityEvent, RoutingKey, String, Timestamp) {
        let index = somebody()
        people[index].failures += 1
        let failed = FailedLogins(failures: people[index].failures)
        guard let address = AddressTag(bytes: bytes(8)) else { preconditionFailure("eight bytes are a tag") }
        return at(
            people[index].subject,
            .loginFailed(
                LoginFailed(
                    subject: people[index].subject, user: people[index].user.user, address: address, ofIdentifier: failed,
                    ofAddress: FailedLogins(failures: 1))))
    }

    private mutating func logOut() -> (IdentityEvent, RoutingKey, String, Timestamp) {
        let index = somebody()
        guard let session = people[index].sessions.popLast() else { return logIn() }
        return at(
            people[index],
            .sessionsEnded(SessionsEnded(user: people[index].user.user, sessions: [session], reason: .revoked)))
    }

    // MARK: Accounts

    private mutating func updateProfile() -> (IdentityEvent, RoutingKey, String, Timestamp) {
        let index = somebody()
        people[index].profileVersion += 1
        return at(
            people[index],
            .profileUpdated(
                ProfileUpdated(
                    target: .user(people[index].user.user), profile: people[index].key.seal(bytes(80), as: .profile),
                    version: people[index].profileVersion, user: people[index].user)))
    }

    private mutating func reset() -> (IdentityEvent, RoutingKey, String, Timestamp) {
        let index = somebody()
        let ended = changeCredential(of: index)
        return at(
            people[index].subject,
            .passwordReset(
                PasswordReset(
                    subject: people[index].subject, account: account(people[index]),
                    passwordHash: people[index].key.seal(bytes(97), as: .passwordHash),
                    verifiedAt: people[index].user.emailVerifiedAt == nil ? now : nil, ended: ended, droppedDevices: [],
                    notice: Notice(recipient: box(60)))))
    }

    private mutating func changePassword() -> (IdentityEvent, RoutingKey, String, Timestamp) {
        let index = somebody()
        guard let own = people[index].sessions.last else { return logIn() }
        let ended = changeCredential(of: index).filter { $0 != own }
        people[index].sessions = [own]
        return at(
            people[index],
            .passwordChanged(
                PasswordChanged(
                    account: account(people[index]), session: own,
                    passwordHash: people[index].key.seal(bytes(97), as: .passwordHash), ended: ended)))
    }

    private mutating func erase() -> (IdentityEvent, RoutingKey, String, Timestamp) {
        let person = people.remove(at: somebody())
        return at(
            person, .userErased(UserErased(user: person.user.user, subjects: [person.subject], ended: person.sessions)))
    }

    private mutating func changeCredential(of index: Int) -> [SessionID] {
        defer { people[index].sessions = [] }
        people[index].version += 1
        people[index].failures = 0
        return people[index].sessions
    }

    private func account(_ person: Person) -> AccountReference {
        AccountReference(user: person.user.user, credentialVersion: person.version)
    }

    // MARK: Parts

    private func at(_ subject: Subject, _ event: IdentityEvent) -> (IdentityEvent, RoutingKey, String, Timestamp) {
        (event, subject.routingKey, subject.base64url, now)
    }

    private func at(_ person: Person, _ event: IdentityEvent) -> (IdentityEvent, RoutingKey, String, Timestamp) {
        (event, person.subject.routingKey, person.user.user.text, now)
    }

    /// Those who came last are seen most.
    private mutating func somebody() -> Int {
        let recent = max(1, people.count / 4)
        return Bool.random(using: &random)
            ? people.count - 1 - Int.random(in: 0..<recent, using: &random) : Int.random(in: people.indices, using: &random)
    }

    private mutating func newSubject() -> Subject {
        while true {
            if let subject = Subject(bytes: bytes(16)), subject.routingKey.partition(among: partitions) == partition {
                return subject
            }
        }
    }

    private mutating func newSession(_ key: DataKey, device: Digest? = nil) -> StartedSession {
        StartedSession(
            session: .random(), refresh: digest(), expiresAt: now + .days(90), device: device ?? digest(),
            isNewDevice: device == nil, client: key.seal(bytes(40), as: .client))
    }

    private mutating func data(_ key: DataKey) -> PersonalData {
        PersonalData(
            dataKey: key.id, identifier: key.seal(bytes(22), as: .identifier),
            passwordHash: key.seal(bytes(97), as: .passwordHash),
            profile: key.seal(bytes(60), as: .profile))
    }

    private mutating func digest() -> Digest { Digest(of: bytes(16)) }

    /// Like one that was sealed to somebody, whose key is gone.
    private mutating func box(_ size: Int) -> Box {
        guard let box = Box(encoded: "1.identity:1." + Base64URL.encode(bytes(32 + 40 + size))) else {
            preconditionFailure("this is the form of a box")
        }
        return box
    }

    private mutating func bytes(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 8)
        while bytes.count < count {
            let word = random.next()
            for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift))) }
        }
        bytes.removeLast(bytes.count - count)
        return bytes
    }
}
