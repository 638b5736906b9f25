import JSON
import Testing

@testable import Crypto

@Suite struct JSONWebTokens {
    private static let claims: JSONObject = [
        "iss": "https://example.com", "sub": "a", "aud": "https://api.example.com", "exp": 1_000, "iat": 100, "jti": "1",
    ]

    @Test(arguments: SignatureAlgorithm.allCases) func `a token says what was signed`(algorithm: SignatureAlgorithm) throws {
        let key = SigningKey.random(algorithm)
        let text = JSONWebToken.signed(Self.claims, type: "at+jwt", keyID: "k1", by: key)
        let token = try JSONWebToken(text)
        #expect(token.algorithm == algorithm)
        #expect(token.keyID == "k1")
        let claims = try token.claims(verifiedBy: key.publicKey, type: "at+jwt")
        #expect(claims.all == Self.claims)
        #expect(claims.issuer == "https://example.com" && claims.subject == "a" && claims.audience == ["https://api.example.com"])
        #expect(claims.expiry == 1_000 && claims.issuedAt == 100 && claims.notBefore == nil)
    }

    // MARK: Known tokens

    /// RFC 7515, appendix A.2.
    private static let rs256 = (
        key: [
            "kty": "RSA", "e": "AQAB",
            "n": .string(
                "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pC"
                    + "gNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2Cap"
                    + "Hg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb5"
                    + "4h4FRWyuXpoQ"),
        ] as JSONObject,
        token: "eyJhbGciOiJSUzI1NiJ9." + payload
            + ".cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t"
            + "1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12j"
            + "zDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQ"
            + "Ge77Rw"
    )
    /// RFC 7515, appendix A.3.
    private static let es256 = (
        key: [
            "kty": "EC", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
            "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
        ] as JSONObject,
        token: "eyJhbGciOiJFUzI1NiJ9." + payload
            + ".DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
    )
    private static let payload =
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"

    @Test func `the tokens of the RFC`() throws {
        for example in [Self.rs256, Self.es256] {
            let claims = try JSONWebToken(example.token).claims(verifiedBy: VerificationKey(jwk: example.key), type: nil)
            #expect(claims.issuer == "joe")
            #expect(claims.expiry == 1_300_819_380)
            #expect(claims.all["http://example.com/is_root"] == true)
        }
    }

    @Test func `a token of the RFC names no type, so it is none of ours`() throws {
        let key = try VerificationKey(jwk: Self.es256.key)
        #expect(throws: JWTError.wrongType) { try JSONWebToken(Self.es256.token).claims(verifiedBy: key, type: "at+jwt") }
    }

    // MARK: What does not count

    private static let key = SigningKey.random(.es256)

    /// A token with this header and these claims, signed as they stand.
    private func token(_ header: String, _ claims: String = #"{"sub":"a","exp":9}"#) -> String {
        let signed = Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(claims.utf8))
        return signed + "." + Base64URL.encode(Self.key.sign(Array(signed.utf8)))
    }

    @Test func `only the key that signed a token opens it, and only for its algorithm`() throws {
        let token = try JSONWebToken(JSONWebToken.signed(Self.claims, type: "at+jwt", keyID: "1", by: Self.key))
        for key in [SigningKey.random(.es256), .random(.rs256)] {
            #expect(throws: JWTError.untrusted) { try token.claims(verifiedBy: key.publicKey, type: "at+jwt") }
        }
        let lying = try JSONWebToken(self.token(#"{"alg":"RS256","typ":"at+jwt"}"#))
        #expect(throws: JWTError.untrusted) { try lying.claims(verifiedBy: Self.key.publicKey, type: "at+jwt") }
    }

    @Test(arguments: ["none", "None", "HS256", "ES384", "es256", ""]) func `no other algorithm is spoken`(name: String) {
        #expect(throws: JWTError.untrusted) { try JSONWebToken(token(#"{"alg":"\#(name)"}"#)) }
    }

    @Test(arguments: [
        #"{"typ":"at+jwt"}"#, #"{"alg":1}"#, #"{"alg":"ES256","alg":"ES256"}"#, #"{"alg":"ES256","crit":["exp"]}"#,
        #"{"alg":"ES256","kid":1}"#, #"{"alg":"ES256","typ":null}"#, "[]", "", "{", #"{"alg":"ES256"}x"#,
    ]) func `a malformed header is refused`(header: String) {
        #expect(throws: JWTError.malformed) { try JSONWebToken(token(header)) }
    }

    @Test(arguments: [
        "", ".", "..", "a.b", "a.b.c.d", "e30.e30.", " " + es256.token, es256.token + " ", es256.token + "=", es256.token + ".",
        es256.token.replacing(".", with: "=."), String(repeating: "a", count: 9_000),
    ]) func `another form is no token`(text: String) {
        #expect(throws: JWTError.malformed) { try JSONWebToken(text) }
    }

    @Test(arguments: [
        "[]", "1", #"{"sub":1}"#, #"{"iss":[]}"#, #"{"aud":1}"#, #"{"aud":["a",1]}"#, #"{"exp":"9"}"#, #"{"exp":-1}"#,
        #"{"exp":1e300}"#, #"{"sub":"a","sub":"b"}"#, #"{"nbf":null}"#,
    ]) func `claims of another form are refused`(claims: String) throws {
        let token = try JSONWebToken(token(#"{"alg":"ES256"}"#, claims))
        #expect(throws: JWTError.malformed) { try token.claims(verifiedBy: Self.key.publicKey, type: nil) }
    }

    @Test(arguments: ["at+jwt", "AT+JWT", "application/at+jwt"]) func `a type may be written in full`(type: String) throws {
        let token = try JSONWebToken(token(#"{"alg":"ES256","typ":"\#(type)"}"#))
        #expect(throws: Never.self) { try token.claims(verifiedBy: Self.key.publicKey, type: "at+jwt") }
        for other in ["onboarding+jwt", "jwt", "t+jwt"] {
            #expect(throws: JWTError.wrongType) { try token.claims(verifiedBy: Self.key.publicKey, type: other) }
        }
    }

    @Test func `a changed part voids the signature`() throws {
        let text = JSONWebToken.signed(Self.claims, type: "at+jwt", keyID: "1", by: Self.key)
        let parts = text.split(separator: ".")
        let claims = Base64URL.encode(JSON.object(["sub": "b"]).serialized())
        let changed = try JSONWebToken("\(parts[0]).\(claims).\(parts[2])")
        #expect(throws: JWTError.untrusted) { try changed.claims(verifiedBy: Self.key.publicKey, type: "at+jwt") }
    }

    // MARK: When and for whom

    private func claims(_ members: JSONObject) throws -> TokenClaims { try TokenClaims(members) }

    @Test func `a token counts until its expiry, for its issuer and audience`() throws {
        let claims = try claims(Self.claims)
        let issuer = "https://example.com"
        #expect(throws: Never.self) { try claims.check(issuer: issuer, audience: "https://api.example.com", at: 999) }
        #expect(throws: JWTError.outOfTime) { try claims.check(issuer: issuer, audience: nil, at: 1_000) }
        #expect(throws: Never.self) { try claims.check(issuer: issuer, audience: nil, at: 1_004, leeway: 5) }
        #expect(throws: JWTError.outOfTime) { try claims.check(issuer: issuer, audience: nil, at: 1_005, leeway: 5) }
        #expect(throws: JWTError.wrongIssuer) { try claims.check(issuer: issuer + "/", audience: nil, at: 1) }
        #expect(throws: JWTError.wrongAudience) { try claims.check(issuer: issuer, audience: issuer, at: 1) }
        // Issued in the future, by another clock.
        #expect(throws: Never.self) { try claims.check(issuer: issuer, audience: nil, at: 40) }
    }

    @Test func `without an expiry it has expired, and before its time it does not count`() throws {
        #expect(throws: JWTError.outOfTime) { try claims(["iss": "a"]).check(issuer: "a", audience: nil, at: 1) }
        let late = try claims(["iss": "a", "exp": 10, "nbf": 5.5])
        #expect(throws: JWTError.outOfTime) { try late.check(issuer: "a", audience: nil, at: 5) }
        #expect(throws: Never.self) { try late.check(issuer: "a", audience: nil, at: 6) }
    }

    @Test func `several audiences`() throws {
        let claims = try claims(["iss": "a", "exp": 10, "aud": ["b", "c"]])
        #expect(throws: Never.self) { try claims.check(issuer: "a", audience: "c", at: 1) }
        #expect(throws: JWTError.wrongAudience) { try claims.check(issuer: "a", audience: "d", at: 1) }
        #expect(throws: JWTError.wrongAudience) {
            try self.claims(["iss": "a", "exp": 10]).check(issuer: "a", audience: "d", at: 1)
        }
    }
}
