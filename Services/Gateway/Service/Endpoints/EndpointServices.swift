import Crypto
import EventSchema
import HTTP
import JSON

/// What the endpoints share.
struct EndpointServices: Sendable {
    var channels: VerificationChannels
    var routing: Routing
    var limiter: Limiter
    var accounts: any AccountDirectory
    var devices: any DeviceDirectory
    var keys: any RecipientKeys
    var sealer: BoxSealer
    var commands: any CommandPath
    var passwords: PasswordWork
    var verifier: TokenVerifier
    var revocations: any Revocations
    var users: UserAnswers
    /// Whether a sign-up is told of an account, or makes one, only with a code.
    var proofRequired: Bool

    /// Throws `UNAVAILABLE` while the service's key is not known.
    func seal(_ bytes: [UInt8], _ context: [UInt8], to service: ServiceName = .identity) throws -> Box {
        guard let key = keys.current(service) else { throw APIError.unavailable }
        return try sealer.seal(bytes, to: key, context: context)
    }

    /// Whether account and device are looked up for a code. It depends on the request alone.
    func looksAtAccount(for purpose: Purpose, _ request: Request) -> Bool {
        purpose == .passwordReset || KnownDevice.isPresented(in: request)
    }

    /// The device that a request comes from, where it belongs to the account that the request names.
    func device(_ request: Request, of account: AccountReference?) async throws -> KnownDevice? {
        try await KnownDevice.find(in: request, of: account, routing: routing, devices: devices)
    }

    /// Counts a request of a client.
    func admit(_ request: Request, _ context: RequestContext, to limit: Limit) async throws {
        try await limiter.admit(context[ClientAddress.self] ?? request.peer, to: limit)
    }

    /// Counts a request of a client and the send that it asks for: gives whether that is within the budget of the day.
    func admit(
        _ request: Request, _ context: RequestContext, to limit: Limit, sendingTo subject: Subject, _ purpose: Purpose,
        from device: KnownDevice?
    ) async throws -> Admission {
        try await limiter.admit(
            context[ClientAddress.self] ?? request.peer, to: limit, sendingTo: subject, purpose, from: device?.digest)
    }

    /// A reply to a command that may end sessions is told once this gateway knows of their end.
    func settled(_ reply: Reply) async -> Reply {
        await revocations.settle(reply.data?["ended"]?.array?.compactMap { $0.string.flatMap { SessionID($0) } } ?? [])
        return reply
    }
}
