internal import Curl
internal import EventSchema
internal import JSON
internal import Runtime

/// What a provider's HTTP interface finds wrong, for operators: numbers and names, never its texts, which may repeat the
/// recipient.
struct ProviderComplaint {
    private let outcome: HTTPOutcome

    init(_ outcome: HTTPOutcome) { self.outcome = outcome }

    func write(to logger: Logger) {
        switch outcome {
        case .unknown: break
        case .failed(let failure): logger.warning("a provider could not be reached", ["reason": .public(failure.rawValue)])
        case .answered(let answer):
            guard !(200..<300).contains(answer.status) else { return }
            let json = try? JSON.parse(answer.body)
            logger.warning(
                "a provider refused a message",
                [
                    "status": .public(answer.status), "code": .public(json?["code"]?.int64 ?? 0),
                    "error": .public(Self.word(json?["name"]?.string ?? "")),
                ])
        }
    }

    /// A name of an error, and nothing else that may stand in its place.
    private static func word(_ text: String) -> String {
        text.utf8.count <= 64 && text.utf8.allSatisfy { 97...122 ~= $0 || $0 == 0x5f } ? text : "?"
    }
}

extension DeliveryFailed.Reason {
    init(_ failure: HTTPOutcome.Failure) {
        self =
            switch failure {
            case .unreachable, .insecure: .unreachable
            case .timedOut: .timeout
            case .misconfigured: .notConfigured
            }
    }
}
