import Foundation
import Testing

@testable import Crypto

@Suite struct Passwords {
    // MARK: Argon2

    /// RFC 9106, section 5: a password of 32 bytes, 16 of salt, 8 of secret, 12 of associated data, 3 passes over 32 KiB in 4
    /// lanes.
    static let rfc9106: [(Argon2.Variant, String)] = [
        (.d, "512b391b6f1162975371d30919734294f868e3be3984f3c1a13a4db9fabe4acb"),
        (.i, "c814d9d1dc7f37aa13f0d77f2494bda1c8de6b016dd388d29952a4c4672b6ce8"),
        (.id, "0d640df58d78766c08c037a34a8b53c9d01ef0452d75b65eb52520e96b01e659"),
    ]

    @Test(arguments: rfc9106) func `Argon2 of the RFC`(variant: Argon2.Variant, tag: String) {
        let hash = Argon2.hash(
            [UInt8](repeating: 1, count: 32), salt: [UInt8](repeating: 2, count: 16),
            Argon2.Parameters(variant: variant, memory: 32, passes: 3, lanes: 4), count: 32,
            secret: [UInt8](repeating: 3, count: 8), associated: [UInt8](repeating: 4, count: 12))
        #expect(hash.map { Hex.encode($0) } == tag)
    }

    /// From the test program of the reference implementation: 64 MiB, two passes.
    @Test func `argon2id of the reference implementation, with its short salt`() {
        let hash = Argon2.hash(
            Array("password".utf8), salt: Array("somesalt".utf8), Argon2.Parameters(memory: 65_536, passes: 2), count: 32)
        #expect(hash.map { Hex.encode($0) } == "09316115d5cf24ed5a15a31a3ba326e5cf32edc24702987c02b6566f61913cf7")
    }

    @Test(arguments: [0, 1, 8, 1_024]) func `both libraries make the same argon2id`(length: Int) {
        let password = [UInt8](repeating: 0x61, count: length)
        let salt = [UInt8](0..<16)
        let parameters = Argon2.Parameters(memory: 64, passes: 3)
        let one = Argon2.hash(password, salt: salt, parameters, count: 32)
        // Both leave an empty secret out; only the reference implementation is asked where there is one.
        let other = Argon2.withReference(password, salt: salt, parameters, count: 32, secret: [], associated: [])
        #expect(one != nil)
        #expect(one == other)
    }

    @Test func `hashes that are made at once, at two costs, do not disturb each other`() async throws {
        let parameters = [Argon2.Parameters(memory: 256, passes: 1), Argon2.Parameters(memory: 1_025, passes: 2)]
        let expected = parameters.map {
            Argon2.withReference(Array("password".utf8), salt: [UInt8](0..<16), $0, count: 32, secret: [], associated: [])
        }
        HashMemory.shared.keep(parameters[0].usedMemory)
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<64 {
                group.addTask {
                    let hash = Argon2.hash(
                        Array("password".utf8), salt: [UInt8](0..<16), parameters[index / 3 % 2], count: 32)
                    #expect(hash != nil && hash == expected[index / 3 % 2])
                }
            }
        }
    }

    @Test func `memory of one length is kept, for as many hashes as were made at once, and given back when it is idle`() {
        let memory = HashMemory(patience: .seconds(3_600))
        memory.lend(65_536) { #expect(memory.waiting == 0) }
        #expect(memory.waiting == 0)
        memory.keep(65_536)
        memory.lend(65_536) {}
        #expect(memory.waiting == 65_536)
        memory.lend(65_536) { #expect(memory.waiting == 0) }
        memory.lend(131_072) { #expect(memory.waiting == 65_536) }
        let (isLent, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let other = Thread {
            memory.lend(65_536) {
                isLent.signal()
                mayEnd.wait()
            }
            isLent.signal()
        }
        other.start()
        isLent.wait()
        memory.lend(65_536) {}
        mayEnd.signal()
        isLent.wait()
        #expect(memory.waiting == 2 * 65_536)
        memory.release(unusedFor: .seconds(3_600))
        #expect(memory.waiting == 2 * 65_536)
        memory.release(unusedFor: .zero)
        #expect(memory.waiting == 0)
        memory.lend(65_536) { memory.keep(131_072) }
        #expect(memory.waiting == 0)
        memory.lend(131_072) {}
        memory.keep(65_536)
        #expect(memory.waiting == 0)
    }

    @Test func `memory that waits for a hash does not wait for ever`() async throws {
        let memory = HashMemory(patience: .milliseconds(1))
        memory.keep(65_536)
        for _ in 0..<3 {
            memory.lend(65_536) {}
            while memory.waiting > 0 { try await Task.sleep(for: .milliseconds(1)) }
        }
    }

    // MARK: New hashes

    private static let cheap = Argon2Settings(memory: 64, passes: 1)

    @Test func `a new hash is argon2id in the PHC form, by default with 19 MiB and two passes`() throws {
        let hash = try PasswordHash.make(Array("Correct Horse 1".utf8))
        #expect(hash.text.hasPrefix("$argon2id$v=19$m=19456,t=2,p=1$"))
        let read = try #require(PasswordHash(hash.text))
        #expect(try read.matches(Array("Correct Horse 1".utf8)))
        #expect(try !read.matches(Array("Correct Horse 2".utf8)))
    }

    @Test func `a text says how its hash was made`() throws {
        let hash = try PasswordHash.make(Array("password".utf8), Argon2Settings(memory: 64, passes: 2), salt: [UInt8](0..<16))
        let parts = hash.text.split(separator: "$")
        #expect(parts.dropLast() == ["argon2id", "v=19", "m=64,t=2,p=1", "AAECAwQFBgcICQoLDA0ODw"])
        #expect(parts.last?.utf8.count == 43)
    }

    @Test func `two hashes of one password differ`() throws {
        let password = Array("Correct Horse 1".utf8)
        #expect(try PasswordHash.make(password, Self.cheap).text != PasswordHash.make(password, Self.cheap).text)
    }

    @Test(
        arguments: ([[], [0], Array("a\0b".utf8), [UInt8](repeating: 0x41, count: 100_000)] as [[UInt8]]).map(ArgumentBytes.init))
    func `an empty password, one with NUL and a very long one are hashed like others`(argument: ArgumentBytes) throws {
        let password = argument.bytes
        let hash = try PasswordHash.make(password, Self.cheap)
        #expect(try hash.matches(password))
        #expect(try !hash.matches(password + [0x41]))
        if !password.isEmpty { #expect(try !hash.matches(Array(password.dropLast()))) }
    }

    @Test func `what follows the 72nd byte counts`() throws {
        let start = [UInt8](repeating: 0x61, count: 72)
        let hash = try PasswordHash.make(start + [1], Self.cheap)
        #expect(try hash.matches(start + [1]))
        #expect(try !hash.matches(start + [2]))
    }

    @Test func `a hash of other settings or another scheme is to be made anew`() throws {
        let hash = try PasswordHash.make([1], Self.cheap)
        #expect(!hash.needsRehash(Self.cheap))
        #expect(hash.needsRehash(Argon2Settings(memory: 64, passes: 2)))
        #expect(hash.needsRehash(Argon2Settings(memory: 65, passes: 1)))
        // A salt of another length, which takes another way, and another time.
        #expect(try PasswordHash.make([1], Self.cheap, salt: [UInt8](0..<8)).needsRehash(Self.cheap))
        for (text, _) in Self.imported { #expect(PasswordHash(text)?.needsRehash(Self.cheap) == true) }
    }

    @Test func `a hash does not print`() throws {
        let hash = try PasswordHash.make([1], Self.cheap)
        #expect("\(hash)" == "***")
        var dumped = ""
        dump(hash, to: &dumped)
        #expect(!dumped.contains("argon2"))
    }

    // MARK: Hashes of other systems

    private static let greeting = "Grüße, Welt 1"

    /// All but bcrypt's were made with Python's hashlib in the form that the table at `PasswordHash` names; those of bcrypt are
    /// from the tests of Openwall's implementation, and one was made with it.
    static let imported: [(text: String, password: String)] = [
        ("$pbkdf2-sha256$i=1000,l=32$8PHy8/T19vf4+fr7/P3+/w$4YL1HMmgXhEobauiUDbCUjCtfXNTZmb7FMJhb6Wwlfk", greeting),
        ("$pbkdf2-sha256$i=1000$8PHy8/T19vf4+fr7/P3+/w$4YL1HMmgXhEobauiUDbCUjCtfXNTZmb7FMJhb6Wwlfk", greeting),
        (
            "$pbkdf2-sha512$1000$8PHy8/T19vf4.fr7/P3./w$OLUzB9r14aiUiIugSLEvxU2BdGampPvTuMU7XIJNCgt6Mvweixa54VhYZABKrN8cJxXlRdkN7"
                + "JJqCxla4H3xwQ", greeting
        ),
        ("$pbkdf2$1000$8PHy8/T19vf4.fr7/P3./w$atSj4gSyV7jyws0R/5GCSxgENFM", greeting),
        ("pbkdf2_sha256$1000$seasalt$tMA6zELtDveIC4Y/GEEopbnL0g02UQWhfQg+NsFRPHA=", greeting),
        ("pbkdf2:sha256:1000$seasalt$b4c03acc42ed0ef7880b863f184128a5b9cbd20d365105a17d083e36c1513c70", greeting),
        (
            "scrypt:1024:8:1$seasalt$74ad24da35f8f254d6de950e5fc01039c4bda033bde25ae92b19f1e14c1644d14d4cd6fb3c729df0cfdea852fb35"
                + "97e075587973b6e4ea6b3143ad35917208b4", greeting
        ),
        ("$scrypt$ln=10,r=8,p=1$8PHy8/T19vf4+fr7/P3+/w$CkONu8SQ6ZUEBv8/6l522zw6PRwDVPGJ+qK28dtkhts", greeting),
        ("$2y$05$abcdefghijklmnopqrstuuWGmv1oR/RPA5ZUyMENIQQOoAIStTj2C", greeting),
        ("$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW", "U*U"),
        ("$2a$05$CCCCCCCCCCCCCCCCCCCCC.VGOzA784oUp/Z0DY336zx7pLYAy0lwK", "U*U*"),
        ("$2b$05$XXXXXXXXXXXXXXXXXXXXXOAcXxm9kjPGEMsLznoKqmqw7tc8WCx4a", "U*U*U"),
        (
            "$2a$05$abcdefghijklmnopqrstuu5s2v8.iXieOjg/.AySBTTZIIVFJeBui",
            "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789chars after 72 are ignored"
        ),
    ]

    @Test(arguments: imported) func `a hash of another system is understood`(text: String, password: String) throws {
        let hash = try #require(PasswordHash(text))
        #expect(hash.text == text)
        #expect(try hash.matches(Array(password.utf8)))
        for wrong in ["", "x" + password, String(password.dropFirst()), password.uppercased() + "!"] {
            #expect(try !hash.matches(Array(wrong.utf8)))
        }
    }

    @Test(arguments: [Argon2.Variant.d, .i, .id], [0x10, 0x13] as [UInt32])
    func `Argon2 of each kind and version, with several lanes, is understood`(variant: Argon2.Variant, version: UInt32) throws {
        let parameters = Argon2.Parameters(variant: variant, version: version, memory: 64, passes: 2, lanes: 4)
        let password = Array(Self.greeting.utf8)
        let hash = try #require(Argon2.hash(password, salt: Array("somesalt".utf8), parameters, count: 24))
        let text = Argon2.text(parameters, salt: Array("somesalt".utf8), hash: hash)
        for form in [text] + (version == 0x10 ? [text.replacing("$v=16", with: "")] : []) {
            let read = try #require(PasswordHash(form))
            #expect(try read.matches(password))
            #expect(try !read.matches(password + [0]))
        }
    }

    @Test func `bcrypt takes no password with a NUL, whatever stands before it`() throws {
        let hash = try #require(PasswordHash("$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"))
        #expect(try !hash.matches(Array("U*U\0".utf8)))
        #expect(try !hash.matches(Array("U*\0U".utf8)))
    }

    @Test(arguments: [
        "", "$", "secret", "$argon2id$", "$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHQ", "$1$abc$def", "$2x$05$" + bcryptRest,
        // Costs out of bounds.
        "$argon2id$v=19$m=262145,t=1,p=1$" + phcRest, "$argon2id$v=19$m=65536,t=33,p=1$" + phcRest,
        "$argon2id$v=19$m=65536,t=0,p=1$" + phcRest, "$argon2id$v=19$m=65536,t=1,p=65$" + phcRest,
        "$argon2id$v=19$m=31,t=1,p=4$" + phcRest, "$2b$17$" + bcryptRest, "$2b$03$" + bcryptRest,
        "$scrypt$ln=19,r=8,p=1$" + phcRest, "$scrypt$ln=0,r=8,p=1$" + phcRest, "$scrypt$ln=14,r=8,p=17$" + phcRest,
        "$scrypt$ln=99,r=8,p=1$" + phcRest, "$pbkdf2-sha256$i=6000001,l=32$" + phcRest, "$pbkdf2-sha256$i=0,l=32$" + phcRest,
        // Not what the form says.
        "$argon2id$v=20$m=65536,t=1,p=1$" + phcRest, "$argon2id$m=65536,t=1$" + phcRest,
        "$argon2id$m=65536,t=1,p=1,x=1$" + phcRest,
        "$argon2id$m=65536,t=1,m=1$" + phcRest, "$argon2id$m=065536,t=1,p=1$" + phcRest, "$argon2id$m=+65536,t=1,p=1$" + phcRest,
        "$pbkdf2-sha256$i=1000,l=31$" + phcRest, "$pbkdf2-md5$i=1000,l=32$" + phcRest, "$2b$05$" + bcryptRest + "a",
        "$2b$05$" + bcryptRest.dropLast() + "!", "scrypt:1000:8:1$salt$00112233445566778899aabbccddeeff",
        "pbkdf2:sha256:1000$$00112233445566778899aabbccddeeff", "pbkdf2_sha256$1000$salt$tMA6zELtDveIC4Y", phcRest,
        "$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHQ$" + String(repeating: "A", count: 1_100),
    ]) func `everything else is refused`(text: String) {
        #expect(PasswordHash(text) == nil)
    }

    private static let phcRest = "c29tZXNhbHRzb21lc2FsdA$4YL1HMmgXhEobauiUDbCUjCtfXNTZmb7FMJhb6Wwlfk"
    private static let bcryptRest = "CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"

    // MARK: The functions below

    /// RFC 7914, section 12.
    @Test(
        arguments: [
            (
                "", "", 16, 1, 1,
                "77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442fcd0069ded0948f8326a753a0fc81f17e8d3e0fb2e0d3628cf35e2"
                    + "0c38d18906"
            ),
            (
                "password", "NaCl", 1_024, 8, 16,
                "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b3731622eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cb"
                    + "dfa2cc0640"
            ),
            (
                "pleaseletmein", "SodiumChloride", 16_384, 8, 1,
                "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf01"
                    + "7b45575887"
            ),
        ] as [(String, String, UInt64, UInt32, UInt32, String)])
    func `scrypt of the RFC`(password: String, salt: String, n: UInt64, r: UInt32, p: UInt32, hash: String) {
        let parameters = Scrypt.Parameters(n: n, blockSize: r, lanes: p)
        let computed = Scrypt.hash(Array(password.utf8), salt: Array(salt.utf8), parameters, count: 64)
        #expect(computed.map { Hex.encode($0) } == hash)
    }

    /// RFC 6070, section 2 (SHA-1), and RFC 7914, section 11 (SHA-256).
    @Test(
        arguments: [
            (.sha1, "password", "salt", 1, "0c60c80f961f0e71f3a9b524af6012062fe037a6"),
            (.sha1, "password", "salt", 2, "ea6c014dc72d6f8ccd1ed92ace1d41f0d8de8957"),
            (.sha1, "password", "salt", 4_096, "4b007901b765489abead49d926f721d065a429c1"),
            (
                .sha1, "passwordPASSWORDpassword", "saltSALTsaltSALTsaltSALTsaltSALTsalt", 4_096,
                "3d2eec4fe41c849b80c8d83662c0e44a8b291a964cf2f07038"
            ),
            (.sha1, "pass\0word", "sa\0lt", 4_096, "56fa6aa75548099dcc37d7f03425e0c3"),
            (
                .sha256, "passwd", "salt", 1,
                "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc49ca9cccf179b645991664b39d77ef317c71b845b1e30bd5091120"
                    + "41d3a19783"
            ),
            (
                .sha256, "Password", "NaCl", 80_000,
                "4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56a1d425a1225833549adb841b51c9b3176a272bdebba1d078478f62"
                    + "b397f33c8d"
            ),
        ] as [(PBKDF2.Function, String, String, UInt32, String)])
    func `PBKDF2 of the RFCs`(function: PBKDF2.Function, password: String, salt: String, iterations: UInt32, hash: String) {
        let computed = PBKDF2.hash(
            Array(password.utf8), salt: Array(salt.utf8), PBKDF2.Parameters(function: function, iterations: iterations),
            count: hash.utf8.count / 2)
        #expect(computed.map { Hex.encode($0) } == hash)
    }
}
