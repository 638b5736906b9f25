internal import Runtime

/// What `/metrics` tells of sealing keys.
struct KeyMetrics: Sendable {
    let published: Counter
    let destroyed: Counter
    let void: Labelled<Counter>

    init(_ metrics: Metrics) {
        published = metrics.counter("latchkey_sealing_keys_published_total", "Own sealing keys appended to the topic keys.")
        destroyed = metrics.counter("latchkey_sealing_keys_destroyed_total", "Own sealing keys destroyed for good.")
        void = metrics.counters(
            "latchkey_sealing_keys_void_records_total", "Records of the topic keys that count for nothing.", labels: ["reason"])
    }
}
