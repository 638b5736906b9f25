import Synchronization

/// The metrics of one process, and their text for Prometheus.
///
/// Asking again for a name gives what was made the first time, so that no part has to hand its metrics to another. Looking
/// one up takes a lock; keep what is used often.
public final class Metrics: Sendable {
    private let families = Mutex<[String: any MetricFamily]>([:])
    private let collectors = Mutex<[@Sendable () -> [Sample]]>([])

    public init() {}

    /// - Parameter name: in full: `latchkey_commands_total`.
    public func counter(_ name: String, _ help: StaticString) -> Counter { counters(name, help, labels: []).with() }
    public func gauge(_ name: String, _ help: StaticString) -> Gauge { gauges(name, help, labels: []).with() }
    public func histogram(_ name: String, _ help: StaticString, buckets: [Double] = Histogram.latencyBuckets) -> Histogram {
        histograms(name, help, labels: [], buckets: buckets).with()
    }

    public func counters(_ name: String, _ help: StaticString, labels: [String]) -> Labelled<Counter> {
        family(name, help, .counter, labels) {
            Counter()
        } render: { counter, write in
            write("", [], Double(counter.value))
        }
    }

    public func gauges(_ name: String, _ help: StaticString, labels: [String]) -> Labelled<Gauge> {
        family(name, help, .gauge, labels) {
            Gauge()
        } render: { gauge, write in
            write("", [], gauge.value)
        }
    }

    public func histograms(
        _ name: String, _ help: StaticString, labels: [String], buckets: [Double] = Histogram.latencyBuckets
    ) -> Labelled<Histogram> {
        precondition(zip(buckets, buckets.dropFirst()).allSatisfy { $0 < $1 }, "buckets of \(name) are not ascending")
        return family(name, help, .histogram, labels) {
            Histogram(bounds: buckets)
        } render: { histogram, write in
            let cells = histogram.read()
            var total: UInt64 = 0
            for (bound, count) in zip(histogram.bounds + [.infinity], cells.counts) {
                total += count
                write("_bucket", [("le", MetricText.number(bound))], Double(total))
            }
            write("_sum", [], cells.sum)
            write("_count", [], Double(total))
        }
    }

    /// Adds metrics that are read only when somebody asks for them. The closure must not block.
    public func collect(_ read: @escaping @Sendable () -> [Sample]) { collectors.withLock { $0.append(read) } }

    /// The text exposition format 0.0.4: `Content-Type: text/plain; version=0.0.4; charset=utf-8`.
    public func render() -> String {
        var text = ""
        let families = families.withLock { $0 }.values.sorted { $0.name < $1.name }
        for family in families { family.render(into: &text) }

        let samples = collectors.withLock { $0 }.flatMap { $0() }
        var described: Set<String> = Set(families.map(\.name))
        // All samples of a metric have to stand together.
        for sample in samples where described.insert(sample.name).inserted {
            MetricText.describe(sample.name, sample.help.description, sample.kind, into: &text)
            for other in samples where other.name == sample.name {
                MetricText.append(sample.name, other.labels, other.value, to: &text)
            }
        }
        return text
    }

    public static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    private func family<Metric: AnyObject & Sendable>(
        _ name: String, _ help: StaticString, _ kind: MetricKind, _ labels: [String], make: @escaping @Sendable () -> Metric,
        render: @escaping @Sendable (Metric, (String, [(String, String)], Double) -> Void) -> Void
    ) -> Labelled<Metric> {
        precondition(MetricText.isName(name), "\(name) is no name for a metric")
        for label in labels { precondition(MetricText.isLabel(label), "\(label) is no label") }
        return families.withLock { families in
            if let existing = families[name] {
                // Two parts that mean different things by one name are a mistake in the program.
                guard let same = existing as? Labelled<Metric>, same.labels == labels else {
                    preconditionFailure("\(name) exists with another type or other labels")
                }
                return same
            }
            let made = Labelled(name: name, help: help.description, kind: kind, labels: labels, make: make, render: render)
            families[name] = made
            return made
        }
    }
}

/// What Prometheus calls the type of a metric.
public enum MetricKind: String, Sendable {
    case counter, gauge, histogram
}

/// One value of a metric that is read only when it is asked for.
public struct Sample: Sendable {
    public var name: String
    public var help: StaticString
    public var kind: MetricKind
    public var labels: [(String, String)]
    public var value: Double

    public init(_ name: String, _ help: StaticString, _ kind: MetricKind, labels: [(String, String)] = [], value: Double) {
        self.name = name
        self.help = help
        self.kind = kind
        self.labels = labels
        self.value = value
    }
}

protocol MetricFamily: Sendable {
    var name: String { get }
    func render(into text: inout String)
}
