public import Crypto
public import EventLog
public import EventSchema
import HTTP
import JSON
public import Runtime

/// Writes commands to the log and waits for their replies.
public struct CommandSender: CommandPath {
    private let replies: ReplyReader
    private let authenticator: RecordAuthenticator
    private let keys: any RecipientKeys
    private let sealer: BoxSealer
    /// The pair that owners seal replies to. It exists in this process only, so nobody can open them later.
    private let pair = KeyPair.random()
    private let opener = BoxOpener()
    private let failures: Counter
    private let sent: Labelled<Counter>

    public init(
        replies: ReplyReader, authenticator: RecordAuthenticator, keys: any RecipientKeys, sealer: BoxSealer, metrics: Metrics
    ) {
        self.replies = replies
        self.authenticator = authenticator
        self.keys = keys
        self.sealer = sealer
        failures = metrics.counter("latchkey_gateway_append_failures_total", "Commands that the log did not take.")
        sent = metrics.counters("latchkey_gateway_commands_total", "Commands sent, by type.", labels: ["type"])
        opener.insert(pair, id: ReplyAddress.recipientID)
    }

    public func reply(to command: OutgoingCommand) async throws -> Reply {
        guard let ends = replies.link.current else { throw LogError(.unavailable, "replies are not read") }
        let request = Random.bytes(16)
        let record = try record(for: command, to: ends, request: request)
        let keep = command.identity.keepLate.map { keepLate in
            { @Sendable (reply: Reply) in
                if let opened = try? open(reply, to: command) { keepLate(command.answer(opened)) }
            }
        }
        let pending = replies.pending
        let answer = PendingReplies.Waiter()
        pending.add(request, answer)
        let reply = try await withTaskCancellationHandler {
            // The deadline may have passed before there was anything to cancel.
            if Task.isCancelled {
                pending.abandon(request, throwing: HTTPFailure.timeout)
                return try await answer.value.get()
            }
            command.identity.willSend()
            sent.with(Swift.type(of: command.message).type.name).increment()
            ends.producer.append(record) { [failures, link = replies.link] result in
                guard case .failure(let error) = result else { return }
                failures.increment()
                pending.abandon(request, throwing: LogError(.unavailable, error.reason), keep: keep)
                if error.code == .closed { link.giveUp() } else { link.doubt() }
            }
            return try await answer.value.get()
        } onCancel: {
            pending.abandon(request, throwing: HTTPFailure.timeout, keep: keep)
        }
        let opened = try open(reply, to: command)
        if opened.outcome != .ok { command.identity.wasRefused() }
        return opened
    }

    /// The reply with the members of its boxes among its data.
    private func open(_ reply: Reply, to command: OutgoingCommand) throws(UnreadableReply) -> Reply {
        guard let boxes = reply.boxes else { throw UnreadableReply() }
        guard !boxes.isEmpty else { return reply }
        var opener = opener
        if let pair = command.identity.replyPair {
            opener = BoxOpener()
            opener.insert(pair, id: ReplyAddress.recipientID)
        }
        var data = reply.data?.object ?? [:]
        for box in boxes {
            guard let bytes = opener.open(box, context: SealingContext.reply(to: command.id)),
                let members = (try? JSON.parse(bytes))?.object
            else { throw UnreadableReply() }
            for name in members.keys { data[name] = members[name] }
        }
        return Reply(outcome: reply.outcome, data: .object(data))
    }

    private func record(for command: OutgoingCommand, to ends: LogLink.Ends, request: [UInt8]) throws -> OutgoingRecord {
        let encoded = SchemaCodec.current.encode(command.message)
        let type = Swift.type(of: command.message).type
        let id = command.id
        let key = command.routingKey
        let address = ReplyAddress(
            partition: UInt16(ends.replies), process: replies.process, publicKey: (command.identity.replyPair ?? pair).publicKey,
            request: request)
        let budget = max(1, Int64(ContinuousClock.now.duration(to: command.deadline).milliseconds))
        var headers = [
            Header(HeaderName.specVersion, "1.0"),
            Header(HeaderName.id, id.text),
            Header(HeaderName.type, encoded.type),
            Header(HeaderName.source, "/\(ServiceName.gateway.rawValue)"),
            Header(HeaderName.time, Timestamp(milliseconds: WallClock.now()).rfc3339),
            Header(HeaderName.contentType, "application/json"),
            Header(HeaderName.budget, String(budget)),
            Header(HeaderName.replyTo, address.encoded),
            Header(HeaderName.traceParent, command.trace.traceparent),
        ]
        if let subject = command.subject { headers.append(Header(HeaderName.subject, subject.base64url)) }
        if let remember = command.identity.remember {
            headers.append(Header(HeaderName.remember, String(Int64(remember.milliseconds))))
        }
        if let client = try sealed(command.client, for: id) { headers.append(Header(HeaderName.client, client.encoded)) }
        let partition = TopicPartition(type.topic, key.partition(among: ends.partitions))
        return authenticator.sealed(OutgoingRecord(partition: partition, key: key.bytes, headers: headers, value: encoded.data))
    }

    /// Address and user agent, for Identity alone. Without its key they are left out: nothing depends on them.
    private func sealed(_ client: ClientDetails, for command: MessageID) throws -> Box? {
        guard let identity = keys.current(.identity) else { return nil }
        var details: JSONObject = ["address": .string(client.address.description)]
        if let userAgent = client.userAgent { details["userAgent"] = .string(userAgent) }
        return try sealer.seal(JSON.object(details).serialized(), to: identity, context: SealingContext.client(of: command))
    }
}

/// A reply whose sealed part does not open: it was not sealed to this process, or not for this command.
struct UnreadableReply: Error {}

/// The public keys that others seal to.
public protocol RecipientKeys: Sendable {
    /// The service's newest key; `nil` while none is known.
    func current(_ service: ServiceName) -> RecipientKey?
}
