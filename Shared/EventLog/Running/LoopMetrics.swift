internal import EventLog
internal import EventSchema
internal import Runtime

/// What `/metrics` tells of the loops of a service.
enum LoopMetrics {
    static func register(in metrics: Metrics, settings: LoopSettings, status: @escaping @Sendable () -> LoopStatus, lag: LagMeter)
    {
        metrics.collect {
            let status = status()
            return samples(status, events: settings.events) + lag.samples(status)
        }
    }

    private static let counters: [(name: String, help: StaticString, value: @Sendable (LoopCounters) -> Int)] = [
        ("valid", "Valid events read.", { $0.valid }),
        ("void", "Records of the own events that count for nothing.", { $0.void }),
        ("foreign", "Valid events of other instances read while owning the partition.", { $0.foreign }),
        ("decided", "Inputs decided, those decided again included.", { $0.decided }),
        ("refused", "Commands refused.", { $0.refused }),
        ("expired", "Commands dropped because their budget was over.", { $0.expired }),
        ("malformed", "Inputs that could not be read.", { $0.malformed }),
        ("repeated", "Commands that came again.", { $0.repeated }),
        ("dropped", "Speculations dropped.", { $0.dropped }),
        ("passed", "Events written to pass inputs that led to none.", { $0.passed }),
        ("answered", "Replies sent.", { $0.answered }),
        ("late", "Replies not sent because their budget was over.", { $0.late }),
    ]

    private static func samples(_ status: LoopStatus, events: Topic) -> [Sample] {
        var samples: [Sample] = [
            Sample("latchkey_log_available", "Whether the log answers.", .gauge, value: status.isAvailable ? 1 : 0),
            Sample(
                "latchkey_partitions_owned", "Partitions that this instance decides.", .gauge, value: Double(status.owned.count)),
            Sample(
                "latchkey_partitions_ready", "Owned partitions that are caught up with.", .gauge,
                value: Double(status.ready.count)),
            Sample(
                "latchkey_partitions_stopped", "Partitions that stand still until somebody has looked.", .gauge,
                value: Double(status.gaveUp.count)),
            Sample("latchkey_append_failures_total", "Appends that failed.", .counter, value: Double(status.appendFailures)),
        ]
        for (partition, shown) in status.partitions.sorted(by: { $0.key < $1.key }) {
            let labels = [("partition", String(partition))]
            for (name, help, value) in counters {
                samples.append(
                    Sample("latchkey_loop_\(name)_total", help, .counter, labels: labels, value: Double(value(shown.counters))))
            }
            samples.append(
                Sample(
                    "latchkey_log_mac_key", "The MAC key under which the next own event is written.", .gauge, labels: labels,
                    value: Double(shown.macKey)))
            samples.append(
                Sample(
                    "latchkey_settled_sequence", "The last own event that took effect: projected, or folded.", .gauge,
                    labels: labels,
                    value: Double(shown.settledSequence)))
            samples.append(
                Sample(
                    "latchkey_open_inputs", "Inputs read and not decided yet.", .gauge, labels: labels, value: Double(shown.open))
            )
            if let position = status.positions[partition] {
                let labels = [("topic", events.rawValue), ("partition", String(partition))]
                samples.append(
                    Sample(
                        "latchkey_log_offset", "The next offset to read.", .gauge, labels: labels, value: Double(position.offset))
                )
            }
            for (topic, offset) in shown.inboxes?.offsets ?? [] {
                let labels = [("topic", topic.rawValue), ("partition", String(partition))]
                samples.append(
                    Sample("latchkey_log_offset", "The next offset to read.", .gauge, labels: labels, value: Double(offset)))
            }
        }
        return samples
    }
}

extension InboxPositions {
    /// The next offsets, by topic.
    var offsets: [(topic: Topic, offset: Int64)] {
        (commands.map { ($0.key, $0.value.offset) } + events.map { ($0.key, $0.value.offset) }).sorted { $0.0 < $1.0 }
    }
}
