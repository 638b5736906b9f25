import Crypto
public import EventSchema
import HTTP
import JSON

/// Tells whom a request comes from.
public struct TokenVerifier: Sendable {
    private let keys: TokenKeys
    private let revocations: any Revocations
    private let issuer: String
    private let audience: String
    private let now: @Sendable () -> Timestamp?
    private let verified = VerifiedTokens()

    /// - Parameters:
    ///   - issuer: `PUBLIC_URL`.
    ///   - audience: whom access tokens are for.
    ///   - now: the log's clock; `nil` while it is not known.
    public init(
        keys: TokenKeys, revocations: any Revocations, issuer: String, audience: String,
        now: @escaping @Sendable () -> Timestamp?
    ) {
        self.keys = keys
        self.revocations = revocations
        self.issuer = issuer
        self.audience = audience
        self.now = now
    }

    /// Who presents a good access token of a session that has not ended. Throws `UNAUTHENTICATED`.
    ///
    /// A request that is worked on again may have ended that session itself. Who decides knows, and tells what came of it.
    func caller(of request: Request, _ context: RequestContext) async throws -> Caller {
        let caller = try await caller(presenting: try Self.bearer(of: request))
        if context[Commands.self]?.isRepeated == true { return caller }
        if try await revocations.isEnded(caller.session, of: caller.user) { throw APIError(.unauthenticated) }
        return caller
    }

    /// To check a signature costs more than everything else about a request: it is done once for each token and set of keys.
    func caller(presenting token: String) async throws -> Caller {
        guard let now = now() else { throw APIError.unavailable }
        let digest = Digest(of: Array(token.utf8))
        // Before the keys are used: where they change in between, the token is checked again the next time.
        let version = try await keys.version()
        if let known = verified.caller(of: digest, at: now, keys: version) { return known }
        let claims = try await claims(token, type: "at+jwt", audience: audience)
        guard let user = claims.subject.flatMap({ UserID($0) }),
            let session = claims.all["sid"]?.string.flatMap({ SessionID($0) }), let expiry = claims.expiry
        else { throw APIError(.unauthenticated) }
        let groups = claims.all["groups"]?.array?.compactMap(\.string) ?? []
        let caller = Caller(user: user, session: session, groups: groups)
        verified.keep(caller, of: digest, until: expiry, keys: version)
        return caller
    }

    /// Which onboarding session the token is for; whether it lives, Identity knows. Throws `UNAUTHENTICATED`.
    func onboarding(of request: Request) async throws -> Onboarding {
        let token = try Self.bearer(of: request)
        let claims = try await claims(token, type: "onboarding+jwt", audience: issuer + "/api/onboarding")
        guard let session = claims.subject.flatMap({ OnboardingSessionID($0) }) else { throw APIError(.unauthenticated) }
        return Onboarding(session: session, token: token)
    }

    private func claims(_ text: String, type: String, audience: String) async throws -> TokenClaims {
        guard let now = now() else { throw APIError.unavailable }
        guard let token = try? JSONWebToken(text), token.isOf(type: type), let id = token.keyID,
            let key = try await keys.key(id), let claims = try? token.claims(verifiedBy: key, type: type),
            (try? claims.check(issuer: issuer, audience: audience, at: now.milliseconds / 1_000)) != nil
        else { throw APIError(.unauthenticated) }
        return claims
    }

    /// What stands behind `Bearer` (RFC 6750, section 2.1).
    private static func bearer(of request: Request) throws(APIError) -> String {
        let lines = request.headers.values("Authorization")
        guard lines.count == 1, let space = lines[0].firstIndex(of: " "), lines[0][..<space].lowercased() == "bearer" else {
            throw APIError(.unauthenticated)
        }
        return String(String(lines[0][space...]).trimmingSpaces)
    }
}

/// Lets only callers with a good access token through.
struct RequireCaller: Middleware {
    let verifier: TokenVerifier

    func handle(_ request: Request, context: RequestContext, next: Handler) async throws -> Response {
        var context = context
        context[Caller.self] = try await verifier.caller(of: request, context)
        return try await next(request, context)
    }
}

extension RequestContext {
    /// Behind ``RequireCaller``.
    func caller() throws(APIError) -> Caller {
        guard let caller = self[Caller.self] else { throw APIError(.unauthenticated) }
        return caller
    }
}
