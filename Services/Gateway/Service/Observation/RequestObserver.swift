public import HTTP
public import Runtime
import Synchronization

/// Counts every answered request, and writes a line about it that names nobody.
public struct RequestObserver: Sendable {
    private let logger: Logger
    private let proxies: [AddressBlock]
    private let series: RequestSeries

    public init(logger: Logger, metrics: Metrics, trusting proxies: [AddressBlock]) {
        self.logger = logger
        self.proxies = proxies
        series = RequestSeries(metrics)
    }

    @Sendable public func observe(_ observation: Observation) {
        let method = Self.known.contains(observation.method) ? observation.method.rawValue : "other"
        let route = observation.route ?? "none"
        series.note(RequestSeries.Kind(method: method, route: route, status: observation.status), observation.duration)

        let logger = logger.with(observation.trace)
        if let fault = observation.fault {
            // An error's own text is written only where its type promises that nothing personal stands in it.
            let reason = (fault as? any HarmlessDescription).map { "\($0)" } ?? ""
            logger.error(
                "request failed",
                ["requestId": .public(observation.requestID), "error": .public("\(type(of: fault))"), "reason": .public(reason)])
        }
        logger.log(
            Self.quiet.contains(route) ? .debug : .info, "request",
            [
                "requestId": .public(observation.requestID), "method": .public(method), "route": .public(route),
                "status": .public(observation.status.rawValue), "ms": .public(observation.duration),
                "bytesIn": .public(observation.requestBytes), "bytesOut": .public(observation.responseBytes),
                "client": .outline(observation.request.clientAddress(trusting: proxies).outline),
            ])
    }

    private static let known: Set<HTTPMethod> = [.get, .head, .post, .put, .patch, .delete, .options]
    /// Asked every few seconds by machines.
    private static let quiet: Set<String> = ["/healthz", "/readyz", "/metrics"]
}

/// Counts and durations of answered requests; each kind looks for its own once.
private final class RequestSeries: Sendable {
    /// Of closed sets, like everything that is a label.
    struct Kind: Hashable {
        var method: String
        var route: String
        var status: HTTPStatus
    }

    private let requests: Labelled<Counter>
    private let durations: Labelled<Histogram>
    private let known = Mutex<[Kind: (requests: Counter, durations: Histogram)]>([:])

    init(_ metrics: Metrics) {
        requests = metrics.counters(
            "latchkey_http_requests_total", "Requests answered.", labels: ["method", "route", "status"])
        durations = metrics.histograms(
            "latchkey_http_request_duration_seconds", "From the complete head of a request to its answer.",
            labels: ["method", "route"])
    }

    func note(_ kind: Kind, _ duration: Duration) {
        let own = known.withLock { known in
            if let own = known[kind] { return own }
            let own = (
                requests.with(kind.method, kind.route, kind.status.description), durations.with(kind.method, kind.route)
            )
            known[kind] = own
            return own
        }
        own.requests.increment()
        own.durations.observe(duration)
    }
}

extension IPAddress {
    /// That of ``Mask`` of its text, made with less work.
    var outline: String {
        guard isV4 else { return Mask.outline(of: description) }
        let bytes = bytes
        return "\(bytes[0]).\(bytes[1]).***"
    }
}
