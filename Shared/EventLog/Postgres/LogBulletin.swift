import EventLog
import EventSchema
import Postgres
import Runtime
import Synchronization

/// Tells consumers, of this process and of others, that partitions grew: one thread and one connection, which speaks
/// (`NOTIFY`) and listens.
///
/// It speaks in transactions of its own with asynchronous commit: a `NOTIFY` holds a lock of the whole server until its
/// commit is done, so within a durable one it would make all commits wait for each other. What comes up while one is under
/// way goes with the next. In between it deletes records past their retention.
final class LogBulletin: Sendable {
    private struct State {
        var inboxes: [ObjectIdentifier: ConsumerInbox] = [:]
        /// Ends of partitions that other processes do not know of yet.
        var unspoken: [Int16: [Int: Int64]] = [:]
        var channels: Set<String> = []
        var hasStarted = false
        var isClosed = false
    }

    /// Under load one announcement speaks for many: each server process that listens has to look at each.
    private static let rate = Pace(interval: .milliseconds(1), burst: 16)
    private static let groupChannel = "log_groups"
    private static let expiryStep: Int32 = 200

    private let configuration: PostgresLog.Configuration
    private let state = Mutex(State())
    private let signal = WakeSignal()

    init(_ configuration: PostgresLog.Configuration) { self.configuration = configuration }

    /// From now on `inbox` hears of what grows.
    func register(_ inbox: ConsumerInbox, inGroup: Bool) {
        let isNew = state.withLock { state in
            state.inboxes[ObjectIdentifier(inbox)] = inbox
            return inGroup && state.channels.insert(Self.groupChannel).inserted
        }
        start()
        if isNew { signal.raise() }
    }

    func remove(_ inbox: ConsumerInbox) {
        state.withLock { state in _ = state.inboxes.removeValue(forKey: ObjectIdentifier(inbox)) }
    }

    /// Listens for what other processes append to a topic. What they appended before is the consumer's to look for.
    func listen(to topic: Int16) {
        let isNew = state.withLock { $0.channels.insert("log_\(topic)").inserted }
        if isNew { signal.raise() }
    }

    /// Records of this process were committed.
    func announce(_ growth: [Growth]) {
        let (inboxes, wasSilent) = state.withLock { state in
            let wasSilent = state.unspoken.isEmpty
            for new in growth {
                let known = state.unspoken[new.key.topic]?[new.key.partition] ?? 0
                state.unspoken[new.key.topic, default: [:]][new.key.partition] = max(new.end, known)
            }
            return (Array(state.inboxes.values), wasSilent)
        }
        for inbox in inboxes { inbox.partitionsGrew(growth) }
        if wasSilent { signal.raise() }
    }

    func start() {
        let isFirst = state.withLock { state in
            defer { state.hasStarted = true }
            return !state.hasStarted
        }
        if isFirst { OwnedThread.start(name: "log-bulletin") { self.run() } }
    }

    func close() {
        state.withLock { $0.isClosed = true }
        signal.raise()
    }

    // MARK: - The thread

    private func run() {
        let session = PostgresSession(configuration.connection("announcements", settings: ["synchronous_commit": "off"]))
        var listening: Set<String> = []
        var connects = 0
        var pace = Self.rate
        var expiry = Expiry(nextLook: .now + configuration.retentionInterval * Double.random(in: 0.2...1))
        while !state.withLock({ $0.isClosed }) {
            signal.clear()
            do {
                let connection = try session.connection()
                if session.connects != connects {
                    connects = session.connects
                    listening = []
                }
                try listen(over: connection, beside: &listening)
                if pace.isDue, try speak(over: connection) { pace.spend() }
                try expiry.step(over: connection, every: configuration.retentionInterval, most: Self.expiryStep)
                var until = expiry.nextLook
                if state.withLock({ !$0.unspoken.isEmpty }) { until = min(until, pace.next) }
                for notification in try connection.notifications(until: until, or: signal)
                where notification.sender != connection.backendPID {
                    hear(notification)
                }
            } catch {
                wait(for: session)
            }
        }
        session.close()
    }

    /// The server is away, and so are all who could be told: the consumers find out at once, and look by themselves later.
    private func wait(for session: PostgresSession) {
        let inboxes = state.withLock { state in
            state.unspoken = [:]
            return Array(state.inboxes.values)
        }
        for inbox in inboxes { inbox.mustLook() }
        let until = session.nextAttempt ?? .now + PostgresSession.shortestPause
        while ContinuousClock.now < until, !state.withLock({ $0.isClosed }) {
            signal.clear()
            signal.wait(until: until)
        }
    }

    private func listen(over connection: PostgresConnection, beside listening: inout Set<String>) throws(PostgresError) {
        let (wanted, inboxes) = state.withLock { ($0.channels, Array($0.inboxes.values)) }
        let new = wanted.subtracting(listening)
        guard !new.isEmpty else { return }
        try connection.listen(to: new.sorted())
        listening.formUnion(new)
        // What was announced before is only found by looking.
        for inbox in inboxes { inbox.mustLook() }
    }

    /// Returns whether there was something to say.
    private func speak(over connection: PostgresConnection) throws(PostgresError) -> Bool {
        let news = state.withLock { state in
            defer { state.unspoken = [:] }
            return state.unspoken
        }
        guard !news.isEmpty else { return false }
        var channels: [String] = []
        var payloads: [String] = []
        for (topic, ends) in news {
            // A payload has at most 8,000 bytes.
            var payload = ""
            for (partition, end) in ends {
                if payload.utf8.count > 7_000 {
                    channels.append("log_\(topic)")
                    payloads.append(payload)
                    payload = ""
                }
                payload += payload.isEmpty ? "\(partition):\(end)" : " \(partition):\(end)"
            }
            channels.append("log_\(topic)")
            payloads.append(payload)
        }
        try connection.query("SELECT pg_notify(channel, payload) FROM unnest(\(channels), \(payloads)) AS news(channel, payload)")
        return true
    }

    private func hear(_ notification: PostgresNotification) {
        let inboxes = state.withLock { Array($0.inboxes.values) }
        if notification.channel == Self.groupChannel {
            for inbox in inboxes { inbox.groupChanged(notification.payload) }
            return
        }
        guard let topic = Int16(notification.channel.dropFirst("log_".count)) else { return }
        let growth = notification.payload.split(separator: " ").compactMap { pair -> Growth? in
            let parts = pair.split(separator: ":")
            guard parts.count == 2, let partition = Int(parts[0]), let end = Int64(parts[1]) else { return nil }
            return Growth(ConsumerInbox.Key(topic: topic, partition: partition), to: end)
        }
        for inbox in inboxes { inbox.partitionsGrew(growth) }
    }
}
