internal import Crypto
public import EventLog
internal import EventSchema
internal import JSON
internal import Runtime
internal import Synchronization

/// An operator's wish that a send is tried again: a command in the log, and the wait for what the Notifier says to it.
public struct RetryRequest: Sendable {
    public enum Answer: Equatable, Sendable, CustomStringConvertible {
        case accepted
        /// The text names no send that has stopped.
        case unknownSend
        case notFailed
        case expired
        /// Nobody has answered; the Notifier may be away. It does nothing about it any more.
        case silence

        public var description: String {
            switch self {
            case .accepted: "another attempt is being made"
            case .unknownSend: "there is no failed send of this id"
            case .notFailed: "the send has not failed"
            case .expired: "what would be sent is of no use any more: its time is over"
            case .silence: "no notifier has answered"
            }
        }
    }

    private let log: any EventLog
    private let authenticator: RecordAuthenticator
    private let sends: StoppedSends
    /// How long an answer is waited for. The command is dropped after that.
    private let patience: Interval

    public init(log: any EventLog, authenticator: RecordAuthenticator, sends: StoppedSends) {
        self.init(log: log, authenticator: authenticator, sends: sends, patience: .seconds(10))
    }

    init(log: any EventLog, authenticator: RecordAuthenticator, sends: StoppedSends, patience: Interval) {
        self.log = log
        self.authenticator = authenticator
        self.sends = sends
        self.patience = patience
    }

    /// Asks, and waits. Blocks.
    public func perform(_ id: String) throws -> Answer {
        guard let id = MessageID(id), let send = try sends.rows(of: id).first else { return .unknownSend }
        let consumer = try log.makeConsumer(client: "operator", group: nil)
        defer { consumer.close() }
        let producer = try log.makeProducer(client: "operator")
        defer { producer.close() }

        let address = ReplyAddress(
            partition: 0, process: Random.bytes(16), publicKey: KeyPair.random().publicKey, request: Random.bytes(16))
        let replies = TopicPartition(.replies, Int(address.partition))
        consumer.follow(replies, from: try consumer.bounds(of: replies).upperBound)
        let command = MessageID.random()
        try append(RetryDelivery(send: send.id), as: command, about: send, replyTo: address, by: producer)

        let deadline = ContinuousClock.now + .milliseconds(patience.milliseconds)
        while ContinuousClock.now < deadline {
            for case .records(replies, let records) in try consumer.poll(timeout: .milliseconds(100)) {
                for record in records {
                    if let answer = answer(in: record, to: command, at: address) { return answer }
                }
            }
        }
        return .silence
    }

    private func append(
        _ message: RetryDelivery, as command: MessageID, about send: StoppedSends.Row, replyTo address: ReplyAddress,
        by producer: any LogProducer
    ) throws {
        let encoded = SchemaCodec.current.encode(message)
        let record = authenticator.sealed(
            OutgoingRecord(
                partition: TopicPartition(.notifierCommands, send.partition), key: send.subject.routingKey.bytes,
                headers: [
                    Header(HeaderName.specVersion, "1.0"), Header(HeaderName.id, command.text),
                    Header(HeaderName.type, encoded.type), Header(HeaderName.source, "/operator"),
                    Header(HeaderName.subject, send.subject.base64url), Header(HeaderName.contentType, "application/json"),
                    Header(HeaderName.budget, String(patience.milliseconds)), Header(HeaderName.replyTo, address.encoded),
                ], value: encoded.data))
        let outcome = Mailbox<Result<Appended, LogError>>()
        producer.append(record) { outcome.send($0) }
        if case .failure(let error)? = outcome.receive(within: .seconds(30)).first { throw error }
    }

    private func answer(in record: Record, to command: MessageID, at address: ReplyAddress) -> Answer? {
        guard record.key == address.process, case .authentic = authenticator.verify(record),
            record.header(HeaderName.causation).map({ String(decoding: $0, as: UTF8.self) }) == command.text,
            let type = record.header(HeaderName.type).map({ String(decoding: $0, as: UTF8.self) }),
            let reply = try? SchemaCodec.current.decode(Reply.self, type: type, data: record.value)
        else { return nil }
        return switch reply.outcome {
        case .ok: .accepted
        case DeliveryPartition.notFailed: .notFailed
        case DeliveryPartition.expired: .expired
        default: .unknownSend
        }
    }
}
