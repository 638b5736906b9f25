import Synchronization
import Testing

@testable import Crypto

@Suite struct Boxes {
    private let message = Array("a message".utf8)
    private let context = Array("the context".utf8)
    private let pair = KeyPair.random()
    private let sealer = BoxSealer()
    private let opener = BoxOpener()

    private var recipient: RecipientKey { RecipientKey(id: "notifier:1", publicKey: pair.publicKey) }

    init() { opener.insert(pair, id: "notifier:1") }

    @Test func `the recipient opens the box, again and again`() throws {
        for count in [0, 1, 100] {
            let message = Random.bytes(count)
            let box = try sealer.seal(message, to: recipient, context: context)
            #expect(box.keyID == "notifier:1" && box.message.sender.count == 32)
            #expect(opener.open(box, context: context) == message)
            #expect(opener.open(box, context: context) == message)
        }
    }

    @Test func `its text form is safe everywhere and reads back as the same box`() throws {
        let box = try sealer.seal(message, to: recipient, context: context)
        let text = box.encoded
        #expect(text.hasPrefix("1.notifier:1."))
        #expect(
            text.unicodeScalars.allSatisfy {
                $0.isASCII && ($0.properties.isAlphabetic || "0123456789-_.:".unicodeScalars.contains($0))
            })
        let read = try #require(Box(encoded: text))
        #expect(read == box && read.encoded == text)
        #expect(opener.open(read, context: context) == message)
    }

    @Test func `what is not the text of a box is refused`() throws {
        let text = try sealer.seal(message, to: recipient, context: context).encoded
        let parts = text.split(separator: ".").map(String.init)
        let least = Base64URL.encode(Random.bytes(72))
        #expect(Box(encoded: "1.a.\(least)") != nil)
        for other in [
            "", ".", "..", "1", "1.a", "2.a.\(least)", "01.a.\(least)", "1..\(least)", "1.a.\(least).", "1.a.\(least).x",
            ".a.\(least)",
            "1.a b.\(least)", "1.a/b.\(least)", "1.é.\(least)", "1.\(String(repeating: "a", count: 65)).\(least)",
            "1.a.\(least)=",
            "1.a. \(least)", "1.a.\(Base64URL.encode(Random.bytes(71)))", "1.a.", text + "A", " " + text,
            parts[1...].joined(separator: "."),
        ] {
            #expect(Box(encoded: other) == nil, "\(other)")
        }
    }

    @Test func `another context, another recipient, another name never opens`() throws {
        let box = try sealer.seal(message, to: recipient, context: context)
        #expect(opener.open(box, context: []) == nil)
        #expect(opener.open(box, context: context + [0]) == nil)
        let other = BoxOpener()
        #expect(other.open(box, context: context) == nil)
        other.insert(.random(), id: "notifier:1")
        #expect(other.open(box, context: context) == nil)
        // The right pair under a name that the box was not sealed to.
        opener.insert(pair, id: "notifier:2")
        let renamed = Box(keyID: "notifier:2", sender: box.message.sender, sealed: box.message.sealed)
        #expect(opener.open(renamed, context: context) == nil)
        #expect(opener.open(box, context: context) == message)
    }

    @Test func `not one bit can be changed`() throws {
        let box = try sealer.seal(message, to: recipient, context: context)
        let bytes = box.message.sender + box.message.sealed
        for place in bytes.indices {
            for bit in 0..<8 {
                var changed = bytes
                changed[place] ^= 1 << bit
                let box = Box(keyID: box.keyID, sender: Array(changed.prefix(32)), sealed: Array(changed.dropFirst(32)))
                #expect(opener.open(box, context: context) == nil)
            }
        }
    }

    /// Both sides of a pair of keys know the same secret: without the direction, what somebody sealed would open as if it
    /// came back.
    @Test func `a box sent back to its sender does not open`() throws {
        let box = try sealer.seal(message, to: recipient, context: context)
        let secret = try SharedSecret(own: pair, peer: box.message.sender)
        let data = Box.associatedData(keyID: "notifier:1", sender: box.message.sender, context: context)
        #expect(secret.open(box.message.sealed, context: data) == message)
        let reflected = Box.associatedData(keyID: "notifier:1", sender: pair.publicKey, context: context)
        #expect(secret.open(box.message.sealed, context: reflected) == nil)
    }

    @Test func `no part of what is authenticated can pass for another`() {
        let sender = Random.bytes(32)
        let whole = Box.associatedData(keyID: "a", sender: sender, context: [1, 2])
        #expect(whole != Box.associatedData(keyID: "a", sender: Array(sender.dropFirst()) + [1], context: [2]))
        #expect(
            Box.associatedData(keyID: "ab", sender: sender, context: [])
                != Box.associatedData(keyID: "a", sender: [UInt8(ascii: "b")] + sender.dropLast(), context: [sender[31]]))
    }

    @Test func `a pair that was removed opens nothing any more`() throws {
        let box = try sealer.seal(message, to: recipient, context: context)
        #expect(opener.open(box, context: context) == message)
        #expect(opener.keyIDs == ["notifier:1"])
        opener.remove(id: "notifier:1")
        #expect(opener.open(box, context: context) == nil)
        #expect(opener.keyIDs.isEmpty)
        // Another pair under the old name does not open it with a secret of the old pair.
        opener.insert(.random(), id: "notifier:1")
        #expect(opener.open(box, context: context) == nil)
        opener.insert(pair, id: "notifier:1")
        #expect(opener.open(box, context: context) == message)
        opener.insert(.random(), id: "notifier:1")
        #expect(opener.open(box, context: context) == nil)
    }

    @Test func `the sender's pair is replaced after its lifetime, and not before`() throws {
        let clock = Clock()
        let sealer = BoxSealer(lifetime: .seconds(60)) { clock.now }
        func sender() throws -> [UInt8] { try sealer.seal(message, to: recipient, context: context).message.sender }
        let first = try sender()
        clock.advance(by: .milliseconds(59_999))
        sealer.discardExpired()
        #expect(try sender() == first)
        clock.advance(by: .milliseconds(1))
        let second = try sender()
        #expect(second != first)
        clock.advance(by: .seconds(59))
        #expect(try sender() == second)
        clock.advance(by: .seconds(1))
        sealer.discardExpired()
        clock.advance(by: .seconds(59))
        let third = try sender()
        #expect(third != second)
        clock.advance(by: .seconds(1))
        #expect(try sender() != third)
        #expect(try opener.open(sealer.seal(message, to: recipient, context: context), context: context) == message)
    }

    @Test func `a recipient's key that cannot be used is refused`() {
        #expect(throws: CryptoError.wrongLength(expected: 32, found: 31)) {
            try sealer.seal(message, to: RecipientKey(id: "a", publicKey: Random.bytes(31)), context: context)
        }
        #expect(throws: CryptoError.weakPublicKey) {
            try sealer.seal(message, to: RecipientKey(id: "a", publicKey: [UInt8](repeating: 0, count: 32)), context: context)
        }
        for id in ["", "a.b", "a b", "é", "a\0", String(repeating: "a", count: 65)] {
            #expect(throws: CryptoError.malformedKeyID) {
                try sealer.seal(message, to: RecipientKey(id: id, publicKey: pair.publicKey), context: context)
            }
        }
    }

    @Test func `many senders and recipients at once, with caches that hold few of them`() async {
        let opener = BoxOpener(capacity: 4)
        let pairs = (0..<8).map { (KeyPair.random(), "key-\($0)") }
        for (pair, id) in pairs { opener.insert(pair, id: id) }
        let sealers = (0..<4).map { _ in BoxSealer(capacity: 2) }
        await withTaskGroup(of: Bool.self) { group in
            for worker in 0..<8 {
                group.addTask {
                    (0..<50).allSatisfy { turn in
                        let message = [UInt8(worker), UInt8(turn)]
                        let (pair, id) = pairs[(worker + turn) % pairs.count]
                        let recipient = RecipientKey(id: id, publicKey: pair.publicKey)
                        let box = try? sealers[turn % sealers.count].seal(message, to: recipient, context: message)
                        return box.flatMap { opener.open($0, context: message) } == message
                    }
                }
            }
            for await allRight in group { #expect(allRight) }
        }
    }

    @Test func `the cache keeps what is used, and never more than its capacity`() throws {
        var cache = SharedSecretCache<Int>(capacity: 8)
        let secret = try SharedSecret(own: pair, peer: KeyPair.random().publicKey)
        for key in 0..<100 {
            cache.insert(secret, for: key)
            #expect(cache.count <= 8)
            #expect(cache[key] != nil)
            #expect(cache[0] != nil, "used each time")
        }
        #expect(cache[50] == nil)
        cache.removeAll { $0.isMultiple(of: 2) }
        #expect(cache[0] == nil && cache[98] == nil && cache[99] != nil)
    }
}

private final class Clock: Sendable {
    private let instant = Mutex(ContinuousClock.now)

    var now: ContinuousClock.Instant { instant.withLock { $0 } }

    func advance(by duration: Duration) { instant.withLock { $0 += duration } }
}
