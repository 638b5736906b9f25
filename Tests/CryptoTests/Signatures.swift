import JSON
import Testing

@testable import Crypto

@Suite struct Signatures {
    @Test(arguments: SignatureAlgorithm.allCases) func `what a key signed is valid for its public half only`(
        algorithm: SignatureAlgorithm
    ) throws {
        let key = SigningKey.random(algorithm)
        let other = SigningKey.random(algorithm)
        let message = Array("message".utf8)
        let signature = key.sign(message)
        #expect(signature.count == (algorithm == .es256 ? 64 : 256))
        #expect(key.publicKey.isValid(signature, for: message))
        #expect(!key.publicKey.isValid(signature, for: message + [0]))
        #expect(!other.publicKey.isValid(signature, for: message))
        for place in [0, 31, 32, signature.count - 1] {
            var changed = signature
            changed[place] ^= 1
            #expect(!key.publicKey.isValid(changed, for: message))
        }
        for length in [0, 1, signature.count - 1] {
            #expect(!key.publicKey.isValid(Array(signature.prefix(length)), for: message))
        }
        #expect(!key.publicKey.isValid(signature + [0], for: message))
        #expect(!key.publicKey.isValid([UInt8](repeating: 0, count: signature.count), for: message))
    }

    @Test(arguments: SignatureAlgorithm.allCases) func `a private key is kept as PKCS 8`(algorithm: SignatureAlgorithm) throws {
        let key = SigningKey.random(algorithm)
        let read = try SigningKey(pkcs8: key.pkcs8)
        #expect(read.algorithm == algorithm)
        #expect(read.publicKey == key.publicKey)
        #expect(key.publicKey.isValid(read.sign([1, 2, 3]), for: [1, 2, 3]))
        #expect("\(key.pkcs8)" == "***")
    }

    @Test(arguments: [[], [0], [0x30, 0x03, 0x02, 0x01, 0x00], [UInt8](repeating: 0x30, count: 200)] as [[UInt8]])
    func `anything else is no private key`(bytes: [UInt8]) {
        #expect(throws: CryptoError.unusableKey) { try SigningKey(pkcs8: Secret(bytes)) }
    }

    @Test func `a signature with short numbers keeps its length`() throws {
        // One R in 256 begins with a zero byte.
        let key = SigningKey.random(.es256)
        for number in 0..<600 as Range<UInt16> {
            let message = [UInt8(number >> 8), UInt8(number & 255)]
            let signature = key.sign(message)
            #expect(signature.count == 64)
            #expect(key.publicKey.isValid(signature, for: message))
        }
    }

    @Test(arguments: SignatureAlgorithm.allCases) func `one key serves many threads`(algorithm: SignatureAlgorithm) async {
        let key = SigningKey.random(algorithm)
        await withTaskGroup(of: Bool.self) { group in
            for number in 0..<4 as Range<UInt8> {
                group.addTask {
                    (0..<20 as Range<UInt8>).allSatisfy {
                        key.publicKey.isValid(key.sign([number, $0]), for: [number, $0])
                    }
                }
            }
            for await allRight in group { #expect(allRight) }
        }
    }

    // MARK: JSON Web Keys

    @Test(arguments: SignatureAlgorithm.allCases) func `a public key survives its JSON form`(algorithm: SignatureAlgorithm) throws
    {
        let key = SigningKey.random(algorithm)
        let jwk = key.publicKey.jwk(keyID: "a")
        #expect(jwk["kid"] == "a" && jwk["use"] == "sig" && jwk["alg"] == .string(algorithm.rawValue))
        #expect(jwk["d"] == nil)
        let read = try VerificationKey(jwk: jwk)
        #expect(read == key.publicKey)
        #expect(read.isValid(key.sign([7]), for: [7]))
    }

    /// RFC 7638, section 3.1.
    @Test func `the thumbprint of the RFC`() throws {
        let key = try VerificationKey(jwk: [
            "kty": "RSA", "e": "AQAB", "alg": "RS256", "kid": "2011-04-29",
            "n": .string(
                "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknj"
                    + "hMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6q"
                    + "MQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8aw"
                    + "apJzKnqDKgw"),
        ])
        #expect(key.thumbprint == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs")
    }

    /// RFC 7517, appendix A.1: an encryption key there.
    private static let point: JSONObject = [
        "kty": "EC", "crv": "P-256", "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
        "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM",
    ]

    @Test func `a point of the RFC`() throws {
        #expect(try VerificationKey(jwk: Self.point).algorithm == .es256)
    }

    @Test(
        arguments: [
            ("use", "enc"), ("alg", "ES384"), ("alg", "RS256"), ("crv", "P-384"), ("kty", "RSA"), ("kty", "oct"), ("kty", nil),
            ("x", nil), ("x", "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D5"), ("x", "AA"),
            ("y", "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM="),
            ("y", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"),
        ] as [(String, String?)]) func `a changed or foreign key is refused`(member: String, value: String?)
    {
        var jwk = Self.point
        jwk[member] = value.map { .string($0) }
        #expect(throws: CryptoError.unusableKey) { try VerificationKey(jwk: jwk) }
    }

    @Test(arguments: [("AQ", 256), ("Ag", 256), ("AQAB", 128), ("AQAB", 2_000), ("", 256)]) func `a weak RSA key is refused`(
        exponent: String, count: Int
    ) {
        let jwk: JSONObject = [
            "kty": "RSA", "e": .string(exponent), "n": .string(Base64URL.encode([UInt8](repeating: 0xc5, count: count))),
        ]
        #expect(throws: CryptoError.unusableKey) { try VerificationKey(jwk: jwk) }
    }
}
