public import JSON

/// What a verified token says.
public struct TokenClaims: Sendable, Equatable {
    /// All claims.
    public let all: JSONObject
    public let issuer: String?
    public let subject: String?
    public let audience: [String]
    /// Seconds since 1970-01-01; a fraction is rounded up, so that a token is never cut short.
    public let expiry: Int64?
    public let notBefore: Int64?
    public let issuedAt: Int64?

    /// Throws `.malformed` where a registered claim (RFC 7519, section 4.1) has another form.
    init(_ claims: JSONObject) throws(JWTError) {
        all = claims
        issuer = try Self.text(claims["iss"])
        subject = try Self.text(claims["sub"])
        switch claims["aud"] {
        case nil: audience = []
        case .string(let one)?: audience = [one]
        case .array(let many)?:
            let texts = many.compactMap(\.string)
            guard texts.count == many.count else { throw .malformed }
            audience = texts
        default: throw .malformed
        }
        expiry = try Self.seconds(claims["exp"])
        notBefore = try Self.seconds(claims["nbf"])
        issuedAt = try Self.seconds(claims["iat"])
    }

    private static func text(_ value: JSON?) throws(JWTError) -> String? {
        guard let value else { return nil }
        guard let text = value.string else { throw .malformed }
        return text
    }

    private static func seconds(_ value: JSON?) throws(JWTError) -> Int64? {
        guard let value else { return nil }
        guard let number = value.double, (0...9e15).contains(number) else { throw .malformed }
        return Int64(number.rounded(.up))
    }

    /// Checks who made the token, for whom, and when. A token without an expiry has expired.
    ///
    /// - Parameters:
    ///   - now: seconds since 1970-01-01.
    ///   - leeway: by how many seconds the clocks of the two machines may differ.
    /// - Throws: `.wrongIssuer`, `.wrongAudience`, `.outOfTime`.
    public func check(issuer: String, audience: String?, at now: Int64, leeway: Int64 = 0) throws(JWTError) {
        guard self.issuer == issuer else { throw .wrongIssuer }
        if let audience, !self.audience.contains(audience) { throw .wrongAudience }
        guard let expiry, now < expiry + leeway else { throw .outOfTime }
        if let notBefore, now < notBefore - leeway { throw .outOfTime }
    }
}
