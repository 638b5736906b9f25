import Synchronization

/// A metric with labels: one counter, gauge or histogram for each combination of their values.
public final class Labelled<Metric: AnyObject & Sendable>: MetricFamily {
    /// Combinations a family keeps apart. Label values come from closed sets; should one not, memory stays bounded and what
    /// is over is counted under `other`.
    static var limit: Int { 1_000 }

    public let name: String
    public let labels: [String]
    private let help: String
    private let kind: MetricKind
    private let make: @Sendable () -> Metric
    private let render: @Sendable (Metric, (String, [(String, String)], Double) -> Void) -> Void
    private let metrics = Mutex<[[String]: Metric]>([:])

    init(
        name: String, help: String, kind: MetricKind, labels: [String], make: @escaping @Sendable () -> Metric,
        render: @escaping @Sendable (Metric, (String, [(String, String)], Double) -> Void) -> Void
    ) {
        self.name = name
        self.help = help
        self.kind = kind
        self.labels = labels
        self.make = make
        self.render = render
    }

    /// - Parameter values: one for each label, in their order; from a closed set, never personal.
    public func with(_ values: String...) -> Metric {
        precondition(values.count == labels.count, "\(name) has \(labels.count) labels")
        return metrics.withLock { metrics in
            if let metric = metrics[values] { return metric }
            let key = metrics.count < Self.limit ? values : labels.map { _ in "other" }
            if let metric = metrics[key] { return metric }
            let metric = make()
            metrics[key] = metric
            return metric
        }
    }

    func render(into text: inout String) {
        MetricText.describe(name, help, kind, into: &text)
        let current = metrics.withLock { $0 }.sorted { $0.key.lexicographicallyPrecedes($1.key) }
        for (values, metric) in current {
            let own = Array(zip(labels, values))
            render(metric) { suffix, more, value in
                MetricText.append(name + suffix, own + more, value, to: &text)
            }
        }
    }
}
