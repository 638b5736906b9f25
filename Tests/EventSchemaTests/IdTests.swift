import Testing

@testable import EventSchema

struct IdTests {
    @Test func `a random message id is a version 4 UUID`() throws {
        for _ in 0..<64 {
            let text = MessageID.random().text
            let characters = Array(text)
            #expect(characters.count == 36)
            #expect(characters[14] == "4")
            #expect("89ab".contains(characters[19]))
            #expect(text == text.lowercased())
        }
        #expect(MessageID.random() != MessageID.random())
        #expect(SessionID.random() != SessionID.random())
    }

    @Test func `a derived message id is a version 8 UUID and follows from the digest`() {
        let digest = Digest(of: Array("scope".utf8)).bytes
        let id = MessageID(digest: digest)
        #expect(id == MessageID(digest: digest))
        #expect(id != MessageID(digest: Digest(of: Array("other".utf8)).bytes))
        #expect(Array(id.text)[14] == "8")
        #expect("89ab".contains(Array(id.text)[19]))
    }

    @Test func `text and bytes come back`() throws {
        let text = "00112233-4455-6677-8899-aabbccddeeff"
        let id = try #require(MessageID(text))
        #expect(id.text == text)
        #expect(id.bytes == (0..<16).map { UInt8($0 * 0x11) })
        #expect(MessageID(bytes: id.bytes) == id)
        #expect(MessageID(text.uppercased()) == id)
        #expect("\(id)" == text)
    }

    @Test(arguments: [
        "", "00112233-4455-6677-8899-aabbccddeef", "00112233-4455-6677-8899-aabbccddeefff",
        "001122334455-6677-8899-aabbccddeeff-",
        "00112233445566778899aabbccddeeff", "{00112233-4455-6677-8899-aabbccddeeff}", "0011223g-4455-6677-8899-aabbccddeeff",
        "00112233-4455-6677-8899-aabbccddeef\u{0}", "００112233-4455-6677-8899-aabbccddeeff",
    ])
    func `no other text is a UUID`(text: String) {
        #expect(MessageID(text) == nil)
    }

    @Test func `a UUID of another version or variant is no user id`() {
        #expect(UserID("a0a1a2a3-a4a5-86a7-a8a9-000000000000") != nil)
        #expect(UserID("a0a1a2a3-a4a5-46a7-a8a9-000000000000") == nil)
        #expect(UserID("a0a1a2a3-a4a5-86a7-e8a9-000000000000") == nil)
        #expect(UserID("a0a1a2a3-a4a5-86a7-28a9-000000000000") == nil)
    }

    @Test func `a subject comes back from its text and its bytes`() throws {
        let bytes = (0..<16).map { UInt8($0 * 16) }
        let subject = try #require(Subject(bytes: bytes))
        #expect(subject.bytes == bytes)
        #expect(subject.base64url.utf8.count == 22)
        #expect(Subject(subject.base64url) == subject)
        #expect(subject.routingKey.bytes == Array(bytes.prefix(6)))
        #expect(RoutingKey(bytes: bytes.prefix(6)) == subject.routingKey)
        #expect(Subject(bytes: bytes.dropLast()) == nil)
        #expect(Subject(subject.base64url + "A") == nil)
        #expect(RoutingKey(bytes: bytes) == nil)
    }

    @Test func `a digest matches itself alone`() throws {
        let digest = Digest(of: Array("abc".utf8))
        #expect(digest.bytes.starts(with: [0xba, 0x78, 0x16, 0xbf]))
        #expect(digest.matches(digest))
        var bytes = digest.bytes
        bytes[31] ^= 1
        #expect(!digest.matches(try #require(Digest(bytes: bytes))))
        #expect(Digest(digest.base64url) == digest)
        #expect(Digest(bytes: Array(bytes.dropLast())) == nil)
    }

    @Test func `a reply address comes back from its text`() throws {
        let address = ReplyAddress(
            partition: 0x0102, process: Array(repeating: 3, count: 16), publicKey: Array(repeating: 4, count: 32),
            request: Array(repeating: 5, count: 16))
        #expect(address.encoded.utf8.count == 88)
        #expect(address.encoded.hasPrefix("AQID"))
        #expect(ReplyAddress(encoded: address.encoded) == address)
        #expect(ReplyAddress(encoded: String(address.encoded.dropLast())) == nil)
        #expect(ReplyAddress(encoded: String(address.encoded.dropLast(4))) == nil)
        #expect(ReplyAddress(encoded: address.encoded + "AAAA") == nil)
        #expect(ReplyAddress(encoded: "") == nil)
    }

    @Test func `boxes of one kind, subject or purpose are bound to it`() throws {
        let one = try #require(Subject(bytes: Array(repeating: 1, count: 16)))
        let two = try #require(Subject(bytes: Array(repeating: 2, count: 16)))
        var contexts: Set<[UInt8]> = []
        for subject in [one, two] {
            for purpose in Purpose.allCases {
                contexts.insert(SealingContext.recipient(subject: subject, purpose: purpose))
                contexts.insert(SealingContext.code(subject: subject, purpose: purpose))
                contexts.insert(SealingContext.submission(subject: subject, purpose: purpose))
            }
        }
        let command = try #require(MessageID(bytes: one.bytes))
        contexts.insert(SealingContext.reply(to: command))
        #expect(contexts.count == 2 * 3 * 3 + 1)
    }
}
