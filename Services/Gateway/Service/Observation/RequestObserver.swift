public import HTTP
public import Runtime

/// Counts every answered request, and writes a line about it that names nobody.
public struct RequestObserver: Sendable {
    private let logger: Logger
    private let proxies: [AddressBlock]
    private let requests: Labelled<Counter>
    private let durations: Labelled<Histogram>

    public init(logger: Logger, metrics: Metrics, trusting proxies: [AddressBlock]) {
        self.logger = logger
        self.proxies = proxies
        requests = metrics.counters(
            "latchkey_http_requests_total", "Requests answered.", labels: ["method", "route", "status"])
        durations = metrics.histograms(
            "latchkey_http_request_duration_seconds", "From the complete head of a request to its answer.",
            labels: ["method", "route"])
    }

    @Sendable public func observe(_ observation: Observation) {
        let method = Self.known.contains(observation.method) ? observation.method.rawValue : "other"
        let route = observation.route ?? "none"
        requests.with(method, route, observation.status.description).increment()
        durations.with(method, route).observe(observation.duration)

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

extension IPAddress {
    /// That of ``Mask`` of its text, made with less work.
    var outline: String {
        guard isV4 else { return Mask.outline(of: description) }
        let bytes = bytes
        return "\(bytes[0]).\(bytes[1]).***"
    }
}
