public import Crypto
internal import Curl
internal import EventSchema
internal import JSON
public import Runtime

/// Hands e-mail to Resend (https://resend.com). It remembers the key of each call for a day, so that a call which is made again
/// sends nothing twice.
public struct ResendProvider: Provider {
    /// As settings and events name it.
    public static let providerName = "resend"

    public let name = Self.providerName
    public let removesDoubles = true
    public let batchSize = 1
    /// Its limit is a few calls a second.
    public let concurrency = 2
    private let key: Secret
    private let sender: MailAddress
    private let address: String
    private let caller = HTTPCaller(isRepeatable: true)
    private let logger: Logger

    /// - Parameter address: where its interface is.
    public init(key: Secret, sender: MailAddress, address: String = "https://api.resend.com", logger: Logger) {
        self.key = key
        self.sender = sender
        self.address = address
        self.logger = logger
    }

    public func deliver(_ messages: [OutgoingMessage]) -> [ProviderResult] { messages.map(deliver) }

    public func close() { caller.close() }

    private func deliver(_ message: OutgoingMessage) -> ProviderResult {
        let token = key.withBytes { String(decoding: $0, as: UTF8.self) }
        let outcome = caller.post(
            HTTPCall(
                url: "\(address)/emails",
                headers: [
                    ("Authorization", "Bearer \(token)"), ("Content-Type", "application/json"),
                    // The same for each attempt: whatever became of an earlier one, the message goes out once.
                    ("Idempotency-Key", message.id.text),
                ], body: body(of: message)))
        let result = Self.result(of: outcome)
        ProviderComplaint(outcome).write(to: logger.with(["send": .public(message.id.text), "provider": "resend"]))
        return result
    }

    /// The same bytes each time: with the same key another body would be refused.
    private func body(of message: OutgoingMessage) -> [UInt8] {
        var object: JSONObject = [
            "from": .string(sender.description), "to": [.string(message.recipient)],
            "subject": .string(message.subject ?? ""), "text": .string(message.text),
        ]
        if let html = message.html { object["html"] = .string(html) }
        object["headers"] = ["Auto-Submitted": "auto-generated", "Content-Language": .string(message.locale.text)]
        return JSON.object(object).serialized()
    }

    /// Source: Resend's list of errors. They are told by status and name.
    static func result(of outcome: HTTPOutcome) -> ProviderResult {
        let answer: HTTPOutcome.Answer
        switch outcome {
        case .unknown: return .unknown
        case .failed(let failure): return .failed(DeliveryFailed.Reason(failure))
        case .answered(let answered): answer = answered
        }
        let json = try? JSON.parse(answer.body)
        switch (answer.status, json?["name"]?.string) {
        case (200..<300, _): return .delivered(providerID: json?["id"]?.string)
        // Another call with the key is on its way, or was made with another body: that one counts.
        case (409, _): return .unknown
        case (429, "daily_quota_exceeded"), (429, "monthly_quota_exceeded"): return .failed(.quotaExceeded)
        case (429, _): return .failed(.rateLimited, retryAfter: answer.retryAfter.map { .seconds(Int64($0)) })
        case (401, _), (403, _): return .failed(.unauthorized)
        case (400..<500, _): return .failed(.messageRefused)
        default: return .failed(.unavailable, retryAfter: answer.retryAfter.map { .seconds(Int64($0)) })
        }
    }
}
