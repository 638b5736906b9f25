internal import Crypto
internal import EventLog
internal import EventSchema
internal import HTTP
internal import JSON

/// What check workers do: everything that needs a password, a data key, or personal data, off the ordered path.
///
/// What has no account is worked on as if it had one: the same hashing, at the cost of a new hash.
struct CheckWork: Sendable {
    enum Outcome: Sendable {
        /// Goes on as this command, to where this routing key leads.
        case command(any Message, RoutingKey)
        case reply(Reply)
    }

    /// Why there is nothing to go on with: the gateway is told.
    struct Stop: Error {
        var outcome: Reply.Outcome

        /// What was sealed cannot be opened any more, or not now: whoever sealed it does so again, to the key of today.
        static let unreadable = Stop(outcome: .stale)
        static let unauthenticated = Stop(outcome: .unauthenticated)
    }

    let routing: Routing
    let opener: BoxOpener
    let sealer: BoxSealer
    /// Whom notices are sealed to; `nil` while no key of the Notifier is known.
    let notifier: @Sendable () -> RecipientKey?
    let cost: Argon2Settings
    private let tags: HMACSHA256
    /// Stands for the hash of whoever has none.
    private let nobody: PasswordHash

    /// - Parameter secret: Identity's own.
    /// - Throws: `.outOfMemory`.
    init(
        secret: Secret, routing: Routing, opener: BoxOpener, sealer: BoxSealer, notifier: @escaping @Sendable () -> RecipientKey?,
        cost: Argon2Settings
    ) throws(CryptoError) {
        self.routing = routing
        self.opener = opener
        self.sealer = sealer
        self.notifier = notifier
        self.cost = cost
        tags = HMACSHA256(
            key: HKDFSHA256.derive(secret: secret, info: Array("latchkey identity address tags v1".utf8), count: 32))
        nobody = try .make(Random.bytes(16), cost)
    }

    /// Blocks for as long as hashing takes, if there is something to hash.
    func perform(_ request: CheckRequest, with records: AccountDirectory.Records) -> Outcome {
        do throws(Stop) {
            switch request.task {
            case .reset(let consumed): return try finishReset(consumed, records)
            case .check(let check): return try perform(check, request.message, records)
            }
        } catch {
            return .reply(Reply(outcome: error.outcome))
        }
    }

    private func perform(
        _ check: IdentityCheck, _ message: InboxMessage, _ records: AccountDirectory.Records
    ) throws(Stop) -> Outcome {
        switch check {
        case .checkSignUp(let check): try signUp(check, message, records)
        case .checkCompletion(let check): try complete(check, message, records)
        case .checkLogin(let check): try logIn(check, message, records)
        case .checkPasswordChange(let check): try changePassword(check, records)
        case .checkErasure(let check): try erase(check, records)
        case .checkProfile(let check): try updateProfile(check, message, records)
        case .readUser(let read): try user(read, message, records)
        case .readOnboarding(let read): try onboarding(read, message, records)
        case .readSessions(let read): try sessions(read, message, records)
        }
    }

    // MARK: Passwords

    func hash(_ password: [UInt8]) throws(Stop) -> [UInt8] {
        do {
            return Array(try PasswordHash.make(password, cost).text.utf8)
        } catch {
            throw .unreadable
        }
    }

    /// The verdict on a password, and whether its hash should be made anew. `nil` for somebody without a hash.
    func check(_ password: [UInt8], of account: AccountRecord?) throws(Stop) -> (verdict: PasswordVerdict, isOutdated: Bool) {
        let own = account.flatMap { $0.key.text($0.passwordHash, .passwordHash) }.flatMap { PasswordHash($0) }
        do {
            let isRight = try (own ?? nobody).matches(password)
            guard isRight, let own else { return (.wrong, false) }
            return (.right, own.needsRehash(cost))
        } catch {
            throw .unreadable
        }
    }

    // MARK: Boxes

    func open(_ box: Box, _ context: [UInt8]) throws(Stop) -> [UInt8] {
        guard let bytes = opener.open(box, context: context) else { throw .unreadable }
        return bytes
    }

    /// Part of an answer, sealed to the gateway process that waits for it.
    func seal(_ members: JSON, for message: InboxMessage) -> Box? {
        message.replyTo.flatMap {
            try? sealer.seal(members.serialized(), to: $0.recipient, context: SealingContext.reply(to: message.id))
        }
    }

    // MARK: Clients

    /// Client address and user agent as the gateway sealed them; `nil` where it had no key to seal to.
    func client(of message: InboxMessage) -> Client? {
        guard let box = message.client.flatMap({ Box(encoded: $0) }),
            let bytes = opener.open(box, context: SealingContext.client(of: message.id)),
            let json = try? JSON.parse(bytes), let address = json["address"]?.string
        else { return nil }
        return Client(address: address, bytes: bytes)
    }

    struct Client {
        var address: String
        /// JSON, as it is kept.
        var bytes: [UInt8]
    }

    /// Of the address that a login for this identifier comes from.
    func tag(_ client: Client?, for subject: Subject) -> AddressTag {
        // What counts as one address is what the gateway's limits count by.
        let address = client.flatMap { IPAddress($0.address) }?.network.bytes ?? []
        guard let tag = AddressTag(bytes: Array(tags.code(for: subject.bytes + address).prefix(8))) else {
            preconditionFailure("a tag has 8 bytes")
        }
        return tag
    }
}
