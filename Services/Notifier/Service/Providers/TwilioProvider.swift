public import Crypto
internal import Curl
internal import EventSchema
internal import JSON
public import Runtime

/// Hands SMS to Twilio's Messages. It does not remove doubles: a call without an answer stays unknown.
public struct TwilioProvider: Provider {
    /// As settings and events name it.
    public static let providerName = "twilio"

    /// Whom messages come from.
    public enum Origin: Sendable, Equatable {
        /// A number in E.164, or a name where a country allows one.
        case number(String)
        case messagingService(String)
    }

    public struct Account: Sendable {
        public var sid: String
        /// The account's own SID, or that of an API key.
        public var user: String
        public var secret: Secret

        public init(sid: String, user: String, secret: Secret) {
            self.sid = sid
            self.user = user
            self.secret = secret
        }
    }

    public let name = Self.providerName
    public let removesDoubles = false
    public let batchSize = 1
    public let concurrency = 4
    private let account: Account
    private let origin: Origin
    private let address: String
    private let caller = HTTPCaller(isRepeatable: false)
    private let logger: Logger

    /// - Parameter address: where its interface is.
    public init(account: Account, origin: Origin, address: String = "https://api.twilio.com", logger: Logger) {
        self.account = account
        self.origin = origin
        self.address = address
        self.logger = logger
    }

    public func deliver(_ messages: [OutgoingMessage]) -> [ProviderResult] { messages.map(deliver) }

    public func close() { caller.close() }

    private func deliver(_ message: OutgoingMessage) -> ProviderResult {
        let outcome = caller.post(
            HTTPCall(
                url: "\(address)/2010-04-01/Accounts/\(account.sid)/Messages.json",
                headers: [("Content-Type", "application/x-www-form-urlencoded")],
                credentials: (account.user, account.secret.withBytes { String(decoding: $0, as: UTF8.self) }),
                body: Array(form(of: message).utf8)))
        ProviderComplaint(outcome).write(to: logger.with(["send": .public(message.id.text), "provider": "twilio"]))
        return Self.result(of: outcome)
    }

    private func form(of message: OutgoingMessage) -> String {
        // Nothing is delivered after the code's time; the bounds are Twilio's.
        let left = min(max((message.expiresAt - message.time).milliseconds / 1_000, 1), 36_000)
        var fields = [("To", message.recipient), ("Body", message.text), ("ValidityPeriod", String(left))]
        switch origin {
        case .number(let number): fields.append(("From", number))
        case .messagingService(let sid): fields.append(("MessagingServiceSid", sid))
        }
        return fields.map { "\($0)=\(Self.escaped($1))" }.joined(separator: "&")
    }

    /// As forms are encoded: what is not unreserved (RFC 3986) by its bytes.
    static func escaped(_ text: String) -> String {
        text.utf8.map { byte in
            let isPlain = 48...57 ~= byte || 65...90 ~= byte || 97...122 ~= byte || "-._~".utf8.contains(byte)
            let digits = String(byte, radix: 16, uppercase: true)
            return isPlain ? String(UnicodeScalar(byte)) : "%\(digits.utf8.count == 1 ? "0" : "")\(digits)"
        }.joined()
    }

    /// Errors about the number that a message goes to: not valid, no mobile phone, not reachable or not allowed from here, or
    /// its owner wants no messages.
    private static let recipientErrors: Set<Int64> = [21_211, 21_214, 21_217, 21_408, 21_610, 21_612, 21_614]
    /// Errors about the number or service that it comes from.
    private static let originErrors: Set<Int64> = [21_212, 21_603, 21_606, 21_611, 21_701, 21_705]

    /// Source: Twilio's list of errors.
    static func result(of outcome: HTTPOutcome) -> ProviderResult {
        let answer: HTTPOutcome.Answer
        switch outcome {
        case .unknown: return .unknown
        case .failed(let failure): return .failed(DeliveryFailed.Reason(failure))
        case .answered(let answered): answer = answered
        }
        let json = try? JSON.parse(answer.body)
        let code = json?["code"]?.int64 ?? 0
        let retryAfter = answer.retryAfter.map { Interval.seconds(Int64($0)) }
        switch answer.status {
        case 200..<300: return .delivered(providerID: json?["sid"]?.string)
        case 401, 403: return .failed(.unauthorized)
        case 404: return .failed(.notConfigured)
        case 429: return .failed(.rateLimited, retryAfter: retryAfter)
        case 400..<500:
            if recipientErrors.contains(code) { return .failed(.recipientRefused) }
            return .failed(originErrors.contains(code) ? .notConfigured : .messageRefused)
        case 503: return .failed(.unavailable, retryAfter: retryAfter)
        // It may have got further than it says.
        default: return .unknown
        }
    }
}
