import EventSchema
import HTTP
import JSON

/// The endpoints of codes and accounts, below `/api`.
struct EndpointRoutes: Sendable {
    let services: EndpointServices

    func add(to router: inout Router) {
        let hashing: [any Middleware] = [BoundPasswordWork(work: services.passwords)]
        let send = SendCode(services: services)
        let confirm = ConfirmCode(services: services)
        router.post("/verification/send", send.answer)
        router.post("/verification/confirm", confirm.answer)

        let onboarding = OnboardingSession(services: services)
        router.post(
            "/onboarding/session", middleware: hashing,
            SignUp(services: services, confirm: confirm, kind: .onboarding).answer)
        router.get("/onboarding/session", onboarding.read)
        router.patch("/onboarding/session", onboarding.update)
        router.post("/onboarding/complete", onboarding.complete)

        let sessions = OwnSessions(services: services)
        router.post(
            "/auth/register", middleware: hashing, SignUp(services: services, confirm: confirm, kind: .register).answer)
        router.post("/auth/login", middleware: hashing, LogInWithPassword(services: services).answer)
        router.post("/auth/refresh", RefreshTokens(services: services).answer)
        router.post("/auth/logout", sessions.logOut)

        router.post("/auth/forgot-password", ForgotPassword(services: services, send: send).answer)
        router.post("/auth/verify-reset-code", VerifyResetCode(services: services, confirm: confirm).answer)
        router.post("/auth/reset-password", middleware: hashing, ResetPassword(services: services).answer)

        let signedIn: [any Middleware] = [RequireCaller(verifier: services.verifier)]
        let user = OwnUser(services: services)
        router.post("/auth/logout-all", middleware: signedIn, sessions.logOutEverywhere)
        router.get("/auth/sessions", middleware: signedIn, sessions.list)
        router.delete("/auth/sessions/{id}", middleware: signedIn, sessions.revoke)
        router.get("/auth/me", middleware: signedIn, user.read)
        router.patch("/auth/me", middleware: signedIn, user.update)
        router.delete("/auth/me", middleware: hashing + signedIn, user.erase)
        router.post("/auth/change-password", middleware: hashing + signedIn, user.changePassword)
    }
}

/// `GET /.well-known/jwks.json`: what access tokens can be checked with.
struct KeySet: Sendable {
    let keys: TokenKeys

    @Sendable func answer(_ request: Request, _ context: RequestContext) async throws -> Response {
        let keys = try await keys.all()
        return .json(["keys": .array(keys.map(\.jwk))], headers: ["Cache-Control": "public, max-age=300"])
    }
}
