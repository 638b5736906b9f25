internal import Runtime

/// What `/metrics` tells of check workers.
struct CheckMetrics: Sendable {
    let taken: Labelled<Counter>
    let dropped: Counter
    let malformed: Counter
    let hashing: Histogram
    let waiting: Gauge

    init(_ metrics: Metrics) {
        taken = metrics.counters("latchkey_checks_total", "Checks worked on, by type.", labels: ["type"])
        dropped = metrics.counter("latchkey_checks_dropped_total", "Checks dropped because their budget was over.")
        malformed = metrics.counter("latchkey_checks_malformed_total", "Records of the work queue that could not be read.")
        hashing = metrics.histogram("latchkey_check_hashing_seconds", "Time of the work on a check that hashes a password.")
        waiting = metrics.gauge("latchkey_checks_waiting", "Checks that wait for a thread to hash on.")
    }
}
