import Crypto
import EventSchema
import HTTP
import Identifiers
import JSON

/// `POST /api/verification/send`.
///
/// For every address the same is done: the budget of the day is counted, a command goes to Verification, and the answer is the
/// same whatever came of it.
struct SendCode: Sendable {
    let services: EndpointServices

    @Sendable func answer(_ request: Request, _ context: RequestContext) async throws -> Response {
        let body = context[JSONBody.self] ?? .object([:])
        let isReset = body["purpose"]?.string == Purpose.passwordReset.rawValue
        return try await issue(
            within: isReset ? .forgotPassword : .send, request, context, read: { () throws(APIError) in try read(body) },
            answer: { reply in APIError(reply)?.response ?? .success(reply.data ?? [:]) })
    }

    /// Has a code sent, or not, as the budgets and the account have it.
    ///
    /// - Parameters:
    ///   - limit: counts the request, whether or not there is something wrong with it.
    ///   - read: what the request asks for.
    func issue(
        within limit: Limit, _ request: Request, _ context: RequestContext,
        read: () throws(APIError) -> (Identifier, Purpose), answer: @escaping @Sendable (Reply) -> Response
    ) async throws -> Response {
        let (identifier, purpose): (Identifier, Purpose)
        do throws(APIError) {
            (identifier, purpose) = try read()
        } catch {
            try await services.admit(request, context, to: limit)
            throw error
        }
        let subject = identifier.subject(by: services.routing)
        let isReset = purpose == .passwordReset
        let looksAtAccount = services.looksAtAccount(for: purpose, request)
        // A device has a budget of its own, so that it is looked for first; nobody else looks before he is admitted.
        let looksFirst = KnownDevice.isPresented(in: request)
        var account = looksFirst ? try await services.accounts.account(of: subject) : nil
        let device = try await services.device(request, of: account)
        let daily = try await services.admit(request, context, to: limit, sendingTo: subject, purpose, from: device)
        if looksAtAccount, !looksFirst { account = try await services.accounts.account(of: subject) }

        let recipient = try services.seal(
            Array(identifier.text.utf8), SealingContext.recipient(subject: subject, purpose: purpose), to: .notifier)
        let command = IssueCode(
            subject: subject, purpose: purpose, channel: purpose.channel, recipient: recipient, locale: request.preferredLanguage,
            overDailyLimit: daily != .admitted, decoy: isReset && account == nil, account: isReset ? account : nil,
            device: device?.digest)
        return try await services.commands.ask(
            OutgoingCommand(
                command, about: subject, for: request, context, timing: looksAtAccount ? .bucketed : .free, answer: answer))
    }

    private func read(_ body: JSON) throws(APIError) -> (Identifier, Purpose) {
        var fields = try FieldReader(body)
        let channel = fields.choice("channel", of: services.channels.channels)
        let kind = channel ?? fields.channel(ofPurpose: "purpose", by: services.channels)
        let identifier = fields.identifier("identifier", for: kind, by: services.channels)
        let purpose = fields.choice("purpose", of: services.channels.purposes)
        if let channel, let purpose, purpose.channel != channel {
            fields.refuse("purpose", "Goes with channel \"\(purpose.channel.rawValue)\".")
        }
        guard fields.faults.isEmpty, let identifier, let purpose else { throw fields.error }
        return (identifier, purpose)
    }
}
