import Crypto
import EventLog
import EventSchema
import JSON
import Testing

@testable import IdentityService

/// What gateways seal and check workers open, without log and database.
struct CheckScene {
    static let cost = Argon2Settings(memory: 64, passes: 1)
    static let secret = Secret([UInt8](repeating: 1, count: 32))

    let routing = Routing(secret: Secret([UInt8](repeating: 9, count: 32)))
    let subject: Subject
    let user: UserID
    let key = DataKey(id: DataKeyID(of: .random()), key: .random())
    let work: CheckWork
    /// The gateway's side.
    let sealer = BoxSealer()
    let identity: RecipientKey
    let waiting = BoxOpener()
    let notifier = BoxOpener()
    let address: ReplyAddress

    init() throws {
        subject = routing.subject(kind: .email, canonical: "ada@example.com")
        user = routing.userID(for: subject.routingKey)
        let (own, reply, notices) = (KeyPair.random(), KeyPair.random(), KeyPair.random())
        identity = RecipientKey(id: "identity:1", publicKey: own.publicKey)
        let opener = BoxOpener()
        opener.insert(own, id: identity.id)
        waiting.insert(reply, id: ReplyAddress.recipientID)
        notifier.insert(notices, id: "notifier:1")
        address = ReplyAddress(
            partition: 3, process: Random.bytes(16), publicKey: reply.publicKey, request: Random.bytes(16))
        work = try CheckWork(
            secret: Self.secret, routing: routing, opener: opener, sealer: BoxSealer(),
            notifier: { RecipientKey(id: "notifier:1", publicKey: notices.publicKey) }, cost: Self.cost)
    }

    // MARK: What is stored

    func account(
        password: String = "Correct Horse 1", cost: Argon2Settings = CheckScene.cost, isDisabled: Bool = false,
        profile: JSONObject = ["locale": "de"]
    ) throws -> AccountRecord {
        try account(hash: PasswordHash.make(Array(password.utf8), cost).text, isDisabled: isDisabled, profile: profile)
    }

    func account(hash: String, isDisabled: Bool = false, profile: JSONObject = [:]) -> AccountRecord {
        AccountRecord(
            user: user, credentialVersion: 4, profileVersion: 2, isDisabled: isDisabled,
            createdAt: Timestamp(milliseconds: 1_000), groups: ["admin"], key: key,
            passwordHash: key.seal(Array(hash.utf8), as: .passwordHash),
            profile: key.seal(JSON.object(profile).serialized(), as: .profile),
            identifiers: [
                AccountRecord.Identifier(
                    subject: subject, channel: .email, encrypted: key.seal(Array("ada@example.com".utf8), as: .identifier),
                    verifiedAt: Timestamp(milliseconds: 2_000))
            ])
    }

    func onboarding(_ id: OnboardingSessionID, isCompleted: Bool = false) -> OnboardingRecord {
        OnboardingRecord(
            session: id, channel: .email, isCompleted: isCompleted, verifiedAt: nil,
            expiresAt: Timestamp(milliseconds: 90_000_000), key: key, profileVersion: 5,
            identifier: key.seal(Array("ada@example.com".utf8), as: .identifier), profile: nil)
    }

    func records(_ accounts: AccountRecord...) -> AccountDirectory.Records {
        var records = AccountDirectory.Records()
        for account in accounts {
            records.users[account.user] = account
            for identifier in account.identifiers { records.userOfSubject[identifier.subject] = account.user }
        }
        return records
    }

    // MARK: What gateways send

    func seal(_ text: String, _ context: [UInt8]) throws -> Box {
        try sealer.seal(Array(text.utf8), to: identity, context: context)
    }

    func request(
        _ check: any Message, as id: MessageID = .random(), client: String? = nil, budget: Interval? = .seconds(10)
    ) throws -> CheckRequest {
        let client = try client.map {
            try seal(#"{"address":"\#($0)","userAgent":"Phone 1"}"#, SealingContext.client(of: id)).encoded
        }
        return try #require(CheckRequest(check: message(check, id, .identityChecks, client, budget), received: .now))
    }

    func request(event: any Message, as id: MessageID = .random()) throws -> CheckRequest? {
        try CheckRequest(event: message(event, id, .verificationEvents, nil, .seconds(10)), received: .now)
    }

    private func message(
        _ message: any Message, _ id: MessageID, _ topic: Topic, _ client: String?, _ budget: Interval?
    ) throws -> InboxMessage {
        let encoded = SchemaCodec.current.encode(message)
        var headers = [
            Header(HeaderName.id, id.text), Header(HeaderName.type, encoded.type),
            Header(HeaderName.replyTo, address.encoded), Header(HeaderName.remember, "3600000"),
            Header(HeaderName.traceParent, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
            Header(HeaderName.mac, [UInt8](repeating: 0, count: 32)),
        ]
        if let client { headers.append(Header(HeaderName.client, client)) }
        if let budget { headers.append(Header(HeaderName.budget, String(budget.milliseconds))) }
        let record = Record(
            partition: TopicPartition(topic, 1), offset: 7, time: Timestamp(milliseconds: 1_000_000),
            key: subject.routingKey.bytes, headers: headers, value: encoded.data)
        return try #require(InboxMessage(command: record))
    }

    // MARK: What comes out

    func opened(_ box: Box?, of request: CheckRequest) throws -> JSON {
        let box = try #require(box)
        let bytes = try #require(waiting.open(box, context: SealingContext.reply(to: request.message.id)))
        return try JSON.parse(bytes)
    }

    func command<Command: Message>(
        _ type: Command.Type, of request: CheckRequest, with records: AccountDirectory.Records
    ) throws -> Command {
        guard case .command(let command, let home) = work.perform(request, with: records) else {
            throw UnexpectedOutcome()
        }
        #expect(home == subject.routingKey)
        return try #require(command as? Command)
    }

    func reply(to request: CheckRequest, with records: AccountDirectory.Records) throws -> Reply {
        guard case .reply(let reply) = work.perform(request, with: records) else { throw UnexpectedOutcome() }
        return reply
    }

    struct UnexpectedOutcome: Error {}
}
