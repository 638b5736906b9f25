internal import EventSchema
internal import NotifierDomain
internal import Runtime

/// What operators are told of deliveries.
struct DeliveryMetrics: Sendable {
    private let outcomes: Labelled<Counter>
    private let latency: Labelled<Histogram>
    private let logger: Logger

    init(_ context: ServiceContext, waiting: @escaping @Sendable () -> Int) {
        outcomes = context.metrics.counters(
            "latchkey_deliveries_total", "What became of messages that were to be handed to a provider.",
            labels: ["provider", "channel", "outcome"])
        latency = context.metrics.histograms(
            "latchkey_delivery_seconds", "From the request of a message to its delivery.", labels: ["provider"])
        context.metrics.collect {
            [Sample("latchkey_deliveries_waiting", "Attempts that wait for a provider.", .gauge, value: Double(waiting()))]
        }
        logger = context.logger
    }

    /// - Parameter now: the log's time.
    func note(_ verdict: ProviderLine.Verdict, of attempt: DeliveryAttempted, at now: Timestamp?) {
        outcomes.with(attempt.provider, attempt.channel.rawValue, verdict.name).increment()
        let logger = logger.with([
            "send": .public(attempt.send.text), "attempt": .public(attempt.attempt), "provider": .public(attempt.provider),
        ])
        switch verdict {
        case .concluded(.delivered):
            if let now { latency.with(attempt.provider).observe(Double((now - attempt.requestedAt).milliseconds) / 1_000) }
            logger.debug("delivered")
        case .concluded(.failed(let reason, _)): logger.warning("a delivery failed", ["reason": .public(reason.rawValue)])
        case .concluded(.unknown): logger.error("whether a message was delivered cannot be known: it is not sent again")
        case .concluded(.expired): logger.notice("a message came too late, or cannot be opened any more: it is not sent")
        case .unsure: logger.warning("a message is handed over again: it may have been taken")
        case .postponed: logger.warning("a message waits for the key that it was sealed to")
        }
    }
}

extension ProviderLine.Verdict {
    fileprivate var name: String {
        switch self {
        case .concluded(.delivered): "delivered"
        case .concluded(.failed): "failed"
        case .concluded(.unknown): "unknown"
        case .concluded(.expired): "expired"
        case .unsure: "unsure"
        case .postponed: "postponed"
        }
    }
}
