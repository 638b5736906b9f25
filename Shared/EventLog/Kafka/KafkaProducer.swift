internal import CKafka
internal import EventLog
internal import EventSchema
internal import Runtime
internal import Synchronization

/// Appends records. A producer that broke is replaced; what it had not delivered fails.
final class KafkaProducer: LogProducer {
    typealias Completion = @Sendable (Result<Appended, LogError>) -> Void

    private struct State {
        var handle: KafkaHandle?
        var isClosed = false
        var flights = Flights<Waiting>(limit: KafkaProducer.groupsUnderway, patience: .milliseconds(100))
    }

    /// A group may become two requests, and not one of an idempotent producer's five may be missing when a group leaves. A
    /// broker works on one request of a connection at a time, so more would not be faster.
    private static let groupsUnderway = 2

    private let settings: KafkaSettings
    private let client: String
    private let state: Mutex<State>
    private let outstanding = Outstanding()

    init(_ settings: KafkaSettings, client: String) throws(LogError) {
        self.settings = settings
        self.client = client
        let handle = try Self.makeHandle(settings, client)
        // The first record of a topic would otherwise wait for its metadata, up to a second.
        _ = try? handle.partitionCounts()
        state = Mutex(State(handle: handle))
        serve(handle)
    }

    private static func makeHandle(_ settings: KafkaSettings, _ client: String) throws(LogError) -> KafkaHandle {
        try KafkaHandle(
            .producer, settings.producer, settings.names, client: client, events: RD_KAFKA_EVENT_DR | RD_KAFKA_EVENT_ERROR)
    }

    func append(_ record: OutgoingRecord, completion: @escaping Completion) {
        if let rejection = record.rejection { return completion(.failure(rejection)) }
        let waiting = Waiting(record, completion, outstanding)
        let failed: [(Waiting, LogError)] = state.withLock { state in
            guard !state.isClosed else { return [(waiting, LogError(.closed, "the producer was closed"))] }
            state.flights.add(waiting, to: record.partition)
            return sendNext(&state)
        }
        Self.fail(failed)
    }

    /// Sends what may leave. Returns what cannot be sent, and why.
    private func sendNext(_ state: inout State) -> [(Waiting, LogError)] {
        var failed: [(Waiting, LogError)] = []
        while let group = state.flights.next(at: .now) {
            for (waiting, error) in send(group, &state) {
                failed.append((waiting, error))
                failed += endFailed(waiting, error, &state)
            }
        }
        return failed
    }

    /// Sends records of one partition. Returns what cannot be sent, and why.
    private func send(_ group: [Waiting], _ state: inout State) -> [(Waiting, LogError)] {
        if state.handle == nil {
            guard let handle = try? Self.makeHandle(settings, client) else {
                return group.map { ($0, LogError(.unavailable, "the producer broke and could not be made anew")) }
            }
            state.handle = handle
            serve(handle)
        }
        guard let handle = state.handle, let partition = group.first?.partition else {
            preconditionFailure("a group has records, and somebody who takes them")
        }
        var failed: [(Waiting, LogError)] = []
        var prepared = PreparedGroup(of: partition)
        for waiting in group {
            guard let record = waiting.takeRecord() else {
                failed.append((waiting, LogError(.unavailable, "the record was sent before")))
                continue
            }
            let reference = Unmanaged.passRetained(waiting)
            if !prepared.add(record, opaque: reference.toOpaque()) {
                reference.release()
                failed.append((waiting, LogError(.unavailable, "out of memory")))
            }
        }
        prepared.produce(on: handle) { opaque, code in
            let waiting = Unmanaged<Waiting>.fromOpaque(opaque).takeRetainedValue()
            failed.append((waiting, Self.failure(code, isClosed: false)))
        }
        return failed
    }

    private static func fail(_ failed: [(Waiting, LogError)]) {
        for (waiting, error) in failed { waiting.complete(.failure(error)) }
    }

    /// Appends one record and blocks until it stands, or has failed.
    func appendAndWait(_ record: OutgoingRecord) -> Result<Appended, LogError> {
        let outcome = Mailbox<Result<Appended, LogError>>()
        append(record) { outcome.send($0) }
        return outcome.receive(within: .seconds(30)).first
            ?? .failure(LogError(.unavailable, "no acknowledgement within 30 seconds"))
    }

    @discardableResult
    func flush(within timeout: Duration) -> Bool {
        let deadline = ContinuousClock.now + timeout
        while outstanding.count.load(ordering: .acquiring) > 0 {
            guard ContinuousClock.now < deadline else { return false }
            KafkaThread.rest(.milliseconds(1))
        }
        return true
    }

    /// What is queued fails at once. What is on its way to a broker stands or fails a moment later, so that nothing is said to
    /// have failed that was appended.
    func close() {
        let (handle, held) = state.withLock { state in
            state.isClosed = true
            defer { state.handle = nil }
            return (state.handle, state.flights.abandonHeld())
        }
        Self.fail(held.map { ($0, LogError(.closed, "the producer was closed")) })
        if let handle { rd_kafka_purge(handle.pointer, Int32(RD_KAFKA_PURGE_F_QUEUE)) }
    }

    // MARK: Acknowledgements

    /// How long the outcome of what is on its way is waited for after the end.
    private static let grace = Duration.seconds(2)

    /// Completes what the handle delivers, until it was replaced or closed and nothing is left in it.
    private func serve(_ handle: KafkaHandle) {
        KafkaThread.start("kafka-ack") { [weak self] in
            let queue = rd_kafka_queue_get_main(handle.pointer)
            var deadline: ContinuousClock.Instant?
            while true {
                let event = rd_kafka_queue_poll(queue, 100)
                // The one who lets go of a producer needs its outcomes as little as the one who closes it.
                let (isCurrent, isClosed) = self?.state.withLock { ($0.handle === handle, $0.isClosed) } ?? (false, true)
                if let event {
                    if rd_kafka_event_type(event) == RD_KAFKA_EVENT_DR {
                        var ended: [(Waiting, Result<Appended, LogError>)] = []
                        while let message = rd_kafka_event_message_next(event) {
                            if let outcome = Self.outcome(of: message, isClosed: isClosed) { ended.append(outcome) }
                        }
                        // What may leave now leaves before anybody takes his time with an outcome.
                        self?.ended(ended, by: handle)
                        for (waiting, result) in ended { waiting.complete(result) }
                    } else if rd_kafka_event_error_is_fatal(event) != 0 || rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR__FATAL
                    {
                        self?.retire(handle)
                    }
                    rd_kafka_event_destroy(event)
                } else {
                    // Whoever waited for a group that takes long does so no more.
                    self?.ended([], by: handle)
                }
                guard !isCurrent else { continue }
                if rd_kafka_outq_len(handle.pointer) == 0 { break }
                if let end = deadline {
                    guard ContinuousClock.now > end else { continue }
                    rd_kafka_purge(handle.pointer, Int32(RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT))
                } else {
                    deadline = .now + Self.grace
                }
            }
            rd_kafka_queue_destroy(queue)
        }
    }

    private func retire(_ handle: KafkaHandle) {
        state.withLock { state in
            guard state.handle === handle else { return }
            state.handle = nil
            state.flights.beginAnew()
        }
        rd_kafka_purge(handle.pointer, Int32(RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT))
    }

    /// Ends the flight of a record that failed. Returns what was held back for it, which fails as well: some has waited as long.
    private func endFailed(_ waiting: Waiting, _ error: LogError, _ state: inout State) -> [(Waiting, LogError)] {
        state.flights.ended(waiting.partition, stoodAt: nil)
        guard error.code != .rejected else { return [] }
        return state.flights.abandonHeld(of: waiting.partition).map { ($0, error) }
    }

    /// Makes room for others.
    private func ended(_ ended: [(Waiting, Result<Appended, LogError>)], by handle: KafkaHandle) {
        var failed: [(Waiting, LogError)] = []
        let now = ContinuousClock.now
        state.withLock { state in
            let time = state.handle === handle ? now : nil
            for (waiting, result) in ended {
                switch result {
                case .success: state.flights.ended(waiting.partition, stoodAt: time)
                case .failure(let error): failed += endFailed(waiting, error, &state)
                }
            }
            if !state.isClosed { failed += sendNext(&state) }
        }
        Self.fail(failed)
    }

    private static func outcome(
        of message: UnsafePointer<rd_kafka_message_t>, isClosed: Bool
    ) -> (Waiting, Result<Appended, LogError>)? {
        guard let opaque = latchkey_message_opaque(message) else { return nil }
        let waiting = Unmanaged<Waiting>.fromOpaque(opaque).takeRetainedValue()
        guard message.pointee.err == RD_KAFKA_RESP_ERR_NO_ERROR else {
            return (waiting, .failure(failure(message.pointee.err, isClosed: isClosed)))
        }
        var kind = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE
        let time = rd_kafka_message_timestamp(message, &kind)
        // librdkafka infers from a later record that an earlier one stands, and takes a broker's word that one is a double: then
        // it does not know where, and what it infers may be wrong.
        guard message.pointee.offset >= 0, kind == RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME else {
            return (waiting, .failure(LogError(.unavailable, "appending: no broker said where and when the record stands")))
        }
        return (waiting, .success(Appended(offset: message.pointee.offset, time: Timestamp(milliseconds: time))))
    }

    /// What a failed append means. A producer that broke is replaced, so that its errors pass.
    private static func failure(_ code: rd_kafka_resp_err_t, isClosed: Bool) -> LogError {
        switch code {
        case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION: LogError(.rejected, "the topic has no such partition")
        case RD_KAFKA_RESP_ERR__PURGE_QUEUE, RD_KAFKA_RESP_ERR__PURGE_INFLIGHT, RD_KAFKA_RESP_ERR__DESTROY:
            isClosed ? LogError(.closed, "the producer was closed") : LogError(.unavailable, "the producer broke and is replaced")
        case RD_KAFKA_RESP_ERR__FATAL: LogError(.unavailable, "the producer broke and is replaced")
        default: LogError(kafka: code, "appending")
        }
    }

    private final class Outstanding: Sendable {
        let count = Atomic(0)
    }

    /// A record, and who waits for its acknowledgement; librdkafka carries the reference.
    private final class Waiting: @unchecked Sendable {
        let partition: TopicPartition
        // Guarded by the producer's lock. librdkafka copies it, and this thread is done with it: freed by another one, all that
        // memory would be missing here.
        private var record: OutgoingRecord?
        private let completion: Completion
        private let outstanding: Outstanding

        init(_ record: OutgoingRecord, _ completion: @escaping Completion, _ outstanding: Outstanding) {
            partition = record.partition
            self.record = record
            self.completion = completion
            self.outstanding = outstanding
            outstanding.count.add(1, ordering: .relaxed)
        }

        deinit { outstanding.count.subtract(1, ordering: .releasing) }

        func takeRecord() -> OutgoingRecord? {
            defer { record = nil }
            return record
        }

        func complete(_ result: Result<Appended, LogError>) { completion(result) }
    }
}
