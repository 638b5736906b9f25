import Crypto
import Testing

@Suite struct Secrets {
    private struct Holder {
        var name = "holder"
        var secret = Secret(Array("hunter2".utf8))
        var optional: Secret? = Secret(Array("hunter2".utf8))
    }

    @Test func `a secret never prints, wherever it stands`() throws {
        let secret = Secret(Array("hunter2".utf8))
        // Not random: a public key, which prints, may begin with any byte.
        let long = Secret(Array("hunter2".utf8) + Array(repeating: 7, count: KeyPair.count - 7))
        var dumped = ""
        dump(secret, to: &dumped)
        dump(Holder(), to: &dumped)
        dump([secret], to: &dumped)
        let texts = [
            "\(secret)", String(describing: secret), String(reflecting: secret), secret.description, secret.debugDescription,
            dumped,
            "\(Holder())", String(reflecting: Holder()), "\([secret])", "\(Optional(secret) as Any)",
            "\(KeyPair.derived(from: long))",
            "\(try SymmetricKey(long))",
        ]
        let bytes = ["hunter2", "68756e74657232", "104, 117", "[104"]
        for text in texts {
            #expect(!bytes.contains { text.contains($0) })
            #expect(text.contains("***"))
        }
        #expect(Mirror(reflecting: secret).children.isEmpty)
    }

    @Test func `the bytes are lent, and compared by value`() {
        let secret = Secret([1, 2, 3])
        #expect(secret.count == 3)
        #expect(secret.withBytes { Array($0) } == [1, 2, 3])
        #expect(secret == Secret([1, 2, 3]))
        #expect(secret != Secret([1, 2, 4]))
        #expect(secret != Secret([1, 2]))
        #expect(Secret([]) == Secret([]))
        #expect(Secret.random(count: 32) != Secret.random(count: 32))
    }

    @Test func `what was taken over is gone from where it came from`() {
        var bytes: [UInt8] = [1, 2, 3]
        let secret = Secret(wiping: &bytes)
        #expect(bytes.isEmpty)
        #expect(secret == Secret([1, 2, 3]))
    }

    @Test func `comparison tells equal from unequal, whatever the length`() {
        #expect(constantTimeEquals([], []))
        #expect(constantTimeEquals([1, 2, 3], [1, 2, 3]))
        #expect(!constantTimeEquals([1, 2, 3], [1, 2, 4]))
        #expect(!constantTimeEquals([0, 2, 3], [1, 2, 3]))
        #expect(!constantTimeEquals([1, 2, 3], [1, 2]))
        #expect(!constantTimeEquals([], [0]))
    }
}
