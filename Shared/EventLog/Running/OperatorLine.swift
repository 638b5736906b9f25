public import EventLog
public import EventSchema
internal import Runtime

/// An operator's line to the running services: commands into the log, and the wait for what is said to them. Used from one
/// thread; every call blocks.
public final class OperatorLine {
    public struct Request {
        public var id: MessageID
        public var command: any Message
        /// Where it belongs.
        public var home: RoutingKey
        public var subject: Subject?

        public init(id: MessageID = .random(), command: any Message, home: RoutingKey, subject: Subject? = nil) {
            self.id = id
            self.command = command
            self.home = home
            self.subject = subject
        }
    }

    private let handles: OperatorHandles
    private let authenticator: RecordAuthenticator
    private let partitions: Int
    /// How long an answer to one command is waited for. The command is dropped after that.
    private let patience: Interval

    public init(log: any EventLog, authenticator: RecordAuthenticator, patience: Interval) throws(LogError) {
        partitions = try log.describe().partitions
        self.authenticator = authenticator
        self.patience = patience
        handles = try OperatorHandles(
            log: log, authenticator: authenticator, patience: .milliseconds(patience.milliseconds))
        do throws(LogError) {
            handles.consumer.follow(handles.replies, from: try handles.consumer.bounds(of: handles.replies).upperBound)
        } catch {
            handles.close()
            throw error
        }
    }

    public func close() { handles.close() }

    /// Sends all of them at once, and waits for their answers. Those that nobody has answered are missing.
    public func ask(_ requests: [Request]) throws -> [MessageID: Reply] {
        let outcomes = Mailbox<LogError>()
        for request in requests {
            handles.producer.append(record(of: request)) { result in
                if case .failure(let error) = result { outcomes.send(error) }
            }
        }
        var open = Set(requests.map(\.id))
        var replies: [MessageID: Reply] = [:]
        let deadline = ContinuousClock.now + .milliseconds(patience.milliseconds)
        while !open.isEmpty, ContinuousClock.now < deadline {
            if let error = outcomes.receive(within: .zero).first { throw error }
            for case .records(_, let records) in try handles.consumer.poll(timeout: .milliseconds(50)) {
                for record in records {
                    guard let (id, reply) = reply(in: record), open.remove(id) != nil else { continue }
                    replies[id] = reply
                }
            }
        }
        return replies
    }

    private func record(of request: Request) -> OutgoingRecord {
        let encoded = SchemaCodec.current.encode(request.command)
        let partition = TopicPartition(type(of: request.command).type.topic, request.home.partition(among: partitions))
        var headers = [
            Header(HeaderName.specVersion, "1.0"), Header(HeaderName.id, request.id.text),
            Header(HeaderName.type, encoded.type), Header(HeaderName.source, "/operator"),
            Header(HeaderName.contentType, "application/json"),
            Header(HeaderName.budget, String(patience.milliseconds)), Header(HeaderName.replyTo, handles.address.encoded),
        ]
        if let subject = request.subject { headers.append(Header(HeaderName.subject, subject.base64url)) }
        return authenticator.sealed(
            OutgoingRecord(partition: partition, key: request.home.bytes, headers: headers, value: encoded.data))
    }

    private func reply(in record: Record) -> (MessageID, Reply)? {
        guard record.key == handles.address.process, authenticator.accepts(record),
            let cause = record.header(HeaderName.causation).flatMap({ MessageID(String(decoding: $0, as: UTF8.self)) }),
            let type = record.header(HeaderName.type).map({ String(decoding: $0, as: UTF8.self) }),
            let reply = try? SchemaCodec.current.decode(Reply.self, type: type, data: record.value)
        else { return nil }
        return (cause, reply)
    }
}
