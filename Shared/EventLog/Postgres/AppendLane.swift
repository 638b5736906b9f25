import EventLog
import EventSchema
import Postgres
import Runtime
import Synchronization

/// Appends records of one durability over one connection, on a thread of its own. One batch is under way at a time; what
/// comes meanwhile is the next one, so that one commit serves as many records as there are.
final class AppendLane: Sendable {
    struct Entry: Sendable {
        var key: ConsumerInbox.Key
        var record: OutgoingRecord
        /// Whose it is.
        var producer: ObjectIdentifier
        /// Set where the record can or shall not be appended; it is completed in its turn.
        var fault: LogError?
        var completion: @Sendable (Result<Appended, LogError>) -> Void
    }

    private struct State {
        var queue: [Entry] = []
        var isClosed = false
    }

    private static let largestBatch = 1_000
    private static let largestBatchBytes = 4 << 20
    private static let shortestFailure: Duration = .milliseconds(20)

    private let isLasting: Bool
    private let bulletin: LogBulletin
    private let state = Mutex(State())
    private let parking = Parking()

    init(_ configuration: PostgresLog.Configuration, client: String, isLasting: Bool, bulletin: LogBulletin) {
        self.isLasting = isLasting
        self.bulletin = bulletin
        let task = "\(client) appends \(isLasting ? "events" : "commands")"
        let settings = ["synchronous_commit": isLasting ? "on" : "off"]
        let connection = configuration.connection(task, settings: settings)
        OwnedThread.start(name: isLasting ? "log-events" : "log-commands") { [self] in run(PostgresSession(connection)) }
    }

    func append(_ entry: Entry) {
        let admission = state.withLock { state -> Bool? in
            guard !state.isClosed else { return nil }
            state.queue.append(entry)
            return state.queue.count == 1
        }
        switch admission {
        case true: parking.unpark()
        case false: break
        case nil: entry.completion(.failure(Self.closed))
        }
    }

    /// Lets what a producer has queued fail in its turn.
    func withdraw(_ producer: ObjectIdentifier) {
        state.withLock { state in
            for index in state.queue.indices where state.queue[index].producer == producer {
                state.queue[index].fault = state.queue[index].fault ?? Self.closed
            }
        }
    }

    func close() {
        state.withLock { $0.isClosed = true }
        parking.unpark()
    }

    // MARK: - The thread

    private func run(_ session: PostgresSession) {
        // The first record should not have to wait for this; a failure shows again when there is one.
        _ = try? session.connection()
        while true {
            let (batch, isClosed) = take()
            if isClosed {
                complete(batch, with: .failure(Self.closed))
                break
            }
            if batch.isEmpty {
                parking.park()
            } else {
                append(batch, session)
            }
        }
        session.close()
    }

    /// The next batch, or everything once the lane is closed.
    private func take() -> (batch: [Entry], isClosed: Bool) {
        state.withLock { state in
            var count = 0
            var bytes = 0
            for entry in state.queue {
                bytes += entry.record.value.count
                if !state.isClosed, count > 0, count == Self.largestBatch || bytes > Self.largestBatchBytes { break }
                count += 1
            }
            defer { state.queue.removeFirst(count) }
            return (Array(state.queue.prefix(count)), state.isClosed)
        }
    }

    private func append(_ batch: [Entry], _ session: PostgresSession) {
        var groups = Groups(batch)
        do throws(PostgresError) {
            if !groups.isEmpty { try groups.append(over: try session.connection(), isLasting: isLasting) }
        } catch {
            if let attempt = session.nextAttempt { pause(until: attempt) }
            complete(batch, with: .failure(LogError(error)))
            return
        }
        if !groups.isEmpty { bulletin.announce(groups.growth) }
        for (number, entry) in batch.enumerated() {
            entry.completion(entry.fault.map { .failure($0) } ?? .success(groups.appended(number)))
        }
    }

    /// While the server is away a batch fails soon, but not at once: who tries again and again must not do it in circles.
    private func pause(until attempt: ContinuousClock.Instant) {
        let end = min(attempt, .now + Self.shortestFailure)
        while ContinuousClock.now < end, !state.withLock({ $0.isClosed }) { parking.park(until: end) }
    }

    private func complete(_ batch: [Entry], with result: Result<Appended, LogError>) {
        for entry in batch { entry.completion(entry.fault.map { .failure($0) } ?? result) }
    }

    private static let closed = LogError(.closed, "the producer is closed")
}

/// The two lanes of a process.
struct AppendLanes: Sendable {
    let lasting: AppendLane
    let passing: AppendLane

    func close() {
        lasting.close()
        passing.close()
    }
}
