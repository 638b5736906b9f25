import Crypto
import SeededRandom
import Testing

@testable import EventSchema

/// The constants were computed apart from this code, with another implementation of HMAC.
struct RoutingTests {
    private let routing = Routing(secret: Secret((0..<32).map { UInt8($0) }))
    private let elsewhere = Routing(secret: Secret((1..<33).map { UInt8($0) }))

    private var subject: Subject { routing.subject(kind: .email, canonical: "user@example.com") }

    // MARK: Subjects

    @Test func `subjects are what they always were`() {
        #expect(Hex.encode(subject.bytes) == "3efc7de2fd8e6ddf88fb3a008fca5bf0")
        #expect(subject.base64url == "Pvx94v2Obd-I-zoAj8pb8A")
        #expect(Hex.encode(routing.subject(kind: .phone, canonical: "+12025550148").bytes) == "2ddc63f7f1729a8b4b3725414c1b6abe")
        #expect(Hex.encode(subject.routingKey.bytes) == "3efc7de2fd8e")
    }

    @Test func `another kind, identifier or secret is another subject`() {
        #expect(routing.subject(kind: .phone, canonical: "user@example.com") != subject)
        #expect(routing.subject(kind: .email, canonical: "user@example.org") != subject)
        #expect(elsewhere.subject(kind: .email, canonical: "user@example.com") != subject)
    }

    // MARK: User ids

    @Test func `user ids are what they always were`() throws {
        let user = routing.userID(for: subject.routingKey, random: (0xa0..<0xaa).map { UInt8($0) })
        #expect(user.text == "a0a1a2a3-a4a5-86a7-a8a9-f26e209fa7f8")
        #expect(routing.routingKey(of: user) == subject.routingKey)
    }

    @Test func `a user id is a version 8 UUID that leads back to its routing key`() throws {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<200 {
            let key = RoutingKey(value: random.next())
            let user = routing.userID(for: key)
            #expect(Array(user.text)[14] == "8")
            #expect("89ab".contains(Array(user.text)[19]))
            #expect(routing.routingKey(of: try #require(UserID(user.text))) == key)
        }
    }

    @Test func `user ids of one routing key share nothing that can be seen`() {
        let ids = (0..<300).map { _ in routing.userID(for: subject.routingKey).bytes }
        for position in 0..<16 where position != 6 && position != 8 {
            #expect(Set(ids.map { $0[position] }).count > 100, "byte \(position) hardly varies")
        }
        #expect(Set(ids.map { $0.suffix(6) }).count == 300)
    }

    @Test func `without the secret a user id leads elsewhere`() {
        #expect(elsewhere.routingKey(of: routing.userID(for: subject.routingKey)) != subject.routingKey)
    }

    // MARK: Tokens

    @Test func `tokens are what they always were`() throws {
        let token = routing.token(kind: .refresh, for: subject.routingKey, random: (0..<17).map { UInt8($0) })
        #expect(token.text == "AAECAwQFBgcICQoLDA0ODxCJIByO6bYC")
        #expect(Hex.encode(token.digest.bytes) == "4593f5eefbef358d1c0f7f96c20c298077b6a09cd9a320d5d9f5c9581cb80679")
        #expect(routing.routingKey(of: token) == subject.routingKey)
    }

    @Test(arguments: TokenKind.allCases)
    func `a token leads back to its routing key and is of its kind`(kind: TokenKind) throws {
        let token = routing.token(kind: kind, for: subject.routingKey)
        let read = try #require(OpaqueToken(token.text, kind: kind))
        #expect(read == token)
        #expect(read.digest.matches(token.digest))
        #expect(routing.routingKey(of: read) == subject.routingKey)
        for other in TokenKind.allCases where other != kind { #expect(OpaqueToken(token.text, kind: other) == nil) }
    }

    @Test func `tokens of one routing key share nothing that can be seen but their kind`() {
        let tokens = (0..<300).map { _ in routing.token(kind: .device, for: subject.routingKey).bytes }
        for position in 0..<23 { #expect(Set(tokens.map { $0[position] }).count > 100, "byte \(position) hardly varies") }
    }

    @Test func `the mask of one kind is not that of another, nor of a user id`() {
        let random = (0..<17).map { UInt8($0) }
        let masks = TokenKind.allCases.map { routing.token(kind: $0, for: RoutingKey(value: 0), random: random).masked }
        let user = routing.userID(for: RoutingKey(value: 0), random: Array(random.prefix(10))).masked
        #expect(Set(masks + [user]).count == TokenKind.allCases.count + 1)
    }

    @Test(arguments: [
        "", "AAECAwQFBgcICQoLDA0ODxCJIByO6bY", "AAECAwQFBgcICQoLDA0ODxCJIByO6bYCA", "AAECAwQFBgcICQoLDA0ODxCJIByO6bYA",
        "AAECAwQFBgcICQoLDA0ODxCJIByO6bYH", "AAECAwQFBgcICQoLDA0ODxCJIByO6b+C", "AAECAwQFBgcICQoLDA0ODxCJIByO6b=C",
        " AAECAwQFBgcICQoLDA0ODxCJIByO6bC", "AAECAwQFBgcICQoLDA0ODxCJIByO6\u{0}C",
    ])
    func `nothing else is a token`(text: String) {
        #expect(OpaqueToken(text) == nil)
    }

    // MARK: Tokens with a reference

    @Test func `tokens with a reference are what they always were`() throws {
        let token = routing.token(
            kind: .refresh, reference: Array(0xe0..<0xf0), for: subject.routingKey, random: (0..<17).map { UInt8($0) })
        #expect(token.text == "AAECAwQFBgcICQoLDA0ODxBL81bgnOSe57zyMI9dr7t0nQ68PFlwMLMnTTf_fU0C")
        #expect(token.digest == Digest(of: token.bytes))
    }

    @Test(arguments: [TokenKind.refresh, .reset, .device])
    func `a token leads back to its routing key and its reference`(kind: TokenKind) throws {
        var random = SeededGenerator(seed: 5)
        for _ in 0..<100 {
            let key = RoutingKey(value: random.next())
            let reference = (0..<16).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            let token = routing.token(kind: kind, reference: reference, for: key)
            let read = try #require(ReferenceToken(token.text, kind: kind))
            let opened = try #require(routing.open(read))
            #expect(opened.routingKey == key)
            #expect(opened.reference == reference)
            #expect(elsewhere.open(token) == nil)
            for other in TokenKind.allCases where other != kind { #expect(ReferenceToken(token.text, kind: other) == nil) }
        }
    }

    @Test func `a token that was changed in any byte does not open`() throws {
        let token = routing.token(kind: .refresh, reference: Array(0..<16), for: subject.routingKey)
        for index in token.bytes.indices {
            var bytes = token.bytes
            bytes[index] ^= 0x10
            let changed = ReferenceToken(bytes: bytes, kind: .refresh)
            #expect(changed.flatMap { routing.open($0) } == nil)
        }
        #expect(ReferenceToken(bytes: Array(token.bytes.dropLast()), kind: .refresh) == nil)
        #expect(ReferenceToken(token.text + "A", kind: .refresh) == nil)
        #expect(ReferenceToken("", kind: .refresh) == nil)
    }

    @Test func `tokens with one reference share nothing that can be seen but their kind`() {
        let tokens = (0..<300).map { _ in
            routing.token(kind: .device, reference: Array(repeating: 7, count: 16), for: subject.routingKey).bytes
        }
        for position in 0..<47 { #expect(Set(tokens.map { $0[position] }).count > 100, "byte \(position) hardly varies") }
    }

    @Test func `ids of onboarding sessions lead back, under a mask of their own`() throws {
        let random = (0xa0..<0xaa).map { UInt8($0) }
        let session = routing.onboardingSessionID(for: subject.routingKey, random: random)
        #expect(session.text == "a0a1a2a3-a4a5-86a7-a8a9-9a822f76ffff")
        #expect(routing.routingKey(of: session) == subject.routingKey)
        #expect(OnboardingSessionID(session.text) == session)
        #expect(session.bytes != routing.userID(for: subject.routingKey, random: random).bytes)
        #expect(routing.onboardingSessionID(for: subject.routingKey) != routing.onboardingSessionID(for: subject.routingKey))
    }

    @Test func `a token with a reference is not printed`() {
        let token = routing.token(kind: .reset, reference: subject.bytes, for: subject.routingKey)
        #expect("\(token)" == "***")
        var dumped = ""
        dump(token, to: &dumped)
        #expect(dumped == "- ***\n")
    }

    @Test func `a token is not printed`() {
        let token = routing.token(kind: .reset, for: subject.routingKey)
        #expect("\(token)" == "***")
        #expect(String(reflecting: token) == "***")
        var dumped = ""
        dump(token, to: &dumped)
        #expect(dumped == "- ***\n")
    }
}
