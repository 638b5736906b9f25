internal import Crypto
internal import EventLog
internal import EventSchema

/// Makes the records that a check leads to.
struct FollowUp: Sendable {
    let authenticator: RecordAuthenticator
    /// Of the topics that commands stand in.
    let partitions: Int

    /// The command that a check becomes: with its id, its reply address, its trace, its client, and what is left of its budget.
    ///
    /// - Parameter remaining: `nil` for one that is decided however late it is.
    func record(
        _ command: any Message, to key: RoutingKey, for request: CheckRequest, remaining: Interval?
    ) -> OutgoingRecord {
        let encoded = SchemaCodec.current.encode(command)
        let message = request.message
        var headers = [
            Header(HeaderName.specVersion, "1.0"),
            Header(HeaderName.id, Self.id(of: request).text),
            Header(HeaderName.type, encoded.type),
            Header(HeaderName.source, "/\(ServiceName.identity.rawValue)"),
            Header(HeaderName.time, message.time.rfc3339),
            Header(HeaderName.contentType, "application/json"),
        ]
        if let subject = message.subject { headers.append(Header(HeaderName.subject, subject)) }
        if let remaining {
            headers.append(Header(HeaderName.budget, String(remaining.milliseconds)))
        } else if let deadline = message.deadline {
            headers.append(Header(HeaderName.deadline, String(deadline.milliseconds)))
        }
        if message.remember > .zero { headers.append(Header(HeaderName.remember, String(message.remember.milliseconds))) }
        if let replyTo = message.replyTo { headers.append(Header(HeaderName.replyTo, replyTo.encoded)) }
        if let trace = message.traceParent { headers.append(Header(HeaderName.traceParent, trace)) }
        if let client = message.client { headers.append(Header(HeaderName.client, client)) }
        let partition = TopicPartition(.identityCommands, key.partition(among: partitions))
        return authenticator.sealed(OutgoingRecord(partition: partition, key: key.bytes, headers: headers, value: encoded.data))
    }

    /// `nil` where nobody waits.
    func record(_ reply: Reply, for request: CheckRequest) -> OutgoingRecord? {
        guard let address = request.message.replyTo else { return nil }
        let encoded = SchemaCodec.current.encode(reply)
        var headers = [
            Header(HeaderName.specVersion, "1.0"),
            Header(HeaderName.id, MessageID.random().text),
            Header(HeaderName.type, encoded.type),
            Header(HeaderName.source, "/\(ServiceName.identity.rawValue)"),
            Header(HeaderName.contentType, "application/json"),
            Header(HeaderName.causation, request.message.id.text),
            Header(HeaderName.replyTo, address.encoded),
        ]
        if let trace = request.message.traceParent { headers.append(Header(HeaderName.traceParent, trace)) }
        return authenticator.sealed(
            OutgoingRecord(
                partition: TopicPartition(.replies, Int(address.partition)), key: address.process, headers: headers,
                value: encoded.data))
    }

    /// A check keeps its id. What a consumed token leads to has one that follows from the password that came with it, and no
    /// two sealed passwords are the same: so it is the same each time, also when the token's command has come again.
    private static func id(of request: CheckRequest) -> MessageID {
        switch request.task {
        case .check: request.message.id
        case .reset(let consumed):
            MessageID(
                digest: SHA256.hash(
                    Array("latchkey finish reset".utf8) + [0] + consumed.subject.bytes + Array(consumed.password.encoded.utf8)))
        }
    }
}
