import Crypto
import EventLog
import EventSchema
import JSON
import Runtime
import Sealing
import Synchronization

@testable import GatewayService

/// Stands for the services behind the gateways: publishes their sealing keys and answers commands over a real log.
final class TestOwner: Sendable {
    private struct State {
        var seen: [MessageID] = []
        var held: [Record] = []
        var outcomes: [MessageID: Reply.Outcome] = [:]
        var isHolding = false
    }

    private let log: any EventLog
    private let authenticator: RecordAuthenticator
    private let partitions: Int
    private let state = Mutex(State())
    private let producer: any LogProducer
    private let consumer: any LogConsumer

    init(_ log: any EventLog, _ authenticator: RecordAuthenticator) throws {
        self.log = log
        self.authenticator = authenticator
        partitions = try log.describe().partitions
        producer = try log.makeProducer(client: "owner")
        consumer = try log.makeConsumer(client: "owner", group: nil)
        let now = Timestamp(milliseconds: WallClock.now())
        for service in [ServiceName.identity, .verification, .notifier] {
            let key = SealingKeyPublished(
                service: service, key: "\(service.rawValue):test", publicKey: KeyPair.random().publicKey,
                notBefore: now - .hours(1), notAfter: now + .hours(24))
            producer.append(KeyRecord.publishing(key, at: now, by: authenticator)) { _ in }
        }
        for partition in 0..<partitions { consumer.follow(TopicPartition(.verificationCommands, partition), from: 0) }
    }

    /// The ids of the commands that came, in the order in which they were read.
    var seen: [MessageID] { state.withLock { $0.seen } }

    /// From now on answers wait for `release`.
    func hold() { state.withLock { $0.isHolding = true } }

    func release() {
        let held = state.withLock { state in
            state.isHolding = false
            defer { state.held = [] }
            return state.held
        }
        for record in held { answer(record) }
    }

    /// Works until its task is cancelled.
    func run() async throws {
        let thread = WorkerThread(
            name: "owner"
        ) { [consumer] in
            consumer.wake()
        } _: { [self] stop in
            var next: [TopicPartition: Int64] = [:]
            while !stop.isRaised {
                for event in try consumer.poll(timeout: .milliseconds(500)) {
                    switch event {
                    case .records(let partition, let records):
                        for record in records { receive(record) }
                        next[partition] = records.last.map { $0.offset + 1 }
                    case .interrupted(let partition): consumer.follow(partition, from: next[partition] ?? 0)
                    case .outOfRange(let partition, _, let end):
                        // The last commands may be lost when the server crashes.
                        next[partition] = end
                        consumer.follow(partition, from: end)
                    case .reachedEnd, .assigned, .revoked: break
                    }
                }
            }
            consumer.close()
            producer.close()
        }
        try await thread.run()
    }

    private func receive(_ record: Record) {
        guard case .authentic = authenticator.verify(record), let id = record.text(HeaderName.id).flatMap({ MessageID($0) })
        else { return }
        let isHeld = state.withLock { state in
            state.seen.append(id)
            if state.isHolding { state.held.append(record) }
            return state.isHolding
        }
        if !isHeld { answer(record) }
    }

    /// The first time a code is right, from then on wrong: whoever repeats the command gets the first outcome again.
    private func answer(_ record: Record) {
        guard let id = record.text(HeaderName.id).flatMap({ MessageID($0) }),
            let address = record.text(HeaderName.replyTo).flatMap({ ReplyAddress(encoded: $0) })
        else { return }
        let outcome = state.withLock { state -> Reply.Outcome in
            if let outcome = state.outcomes[id] { return outcome }
            let isFirst = !state.outcomes.values.contains(.ok) || record.text(HeaderName.type)?.contains("issue") == true
            state.outcomes[id] = isFirst ? .ok : .invalidOTP
            return isFirst ? .ok : .invalidOTP
        }
        let message = SchemaCodec.current.encode(Reply(outcome: outcome, data: outcome == .ok ? ["expiresIn": 300] : nil))
        let headers = [
            Header(HeaderName.specVersion, "1.0"), Header(HeaderName.id, MessageID.random().text),
            Header(HeaderName.type, message.type), Header(HeaderName.source, "/verification"),
            Header(HeaderName.causation, id.text), Header(HeaderName.replyTo, address.encoded),
        ]
        let reply = OutgoingRecord(
            partition: TopicPartition(.replies, Int(address.partition)), key: address.process, headers: headers,
            value: message.data)
        producer.append(authenticator.sealed(reply)) { _ in }
    }
}

extension Record {
    fileprivate func text(_ name: String) -> String? { header(name).map { String(decoding: $0, as: UTF8.self) } }
}
