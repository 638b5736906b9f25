internal import EventSchema

/// Reads one inbox of a partition: commands, authenticated, or the events of another service, by their chain.
enum Inbox: Sendable {
    case commands(CommandInbox)
    case events(ChainReader)

    /// Where reading starts.
    var start: Int64 {
        switch self {
        case .commands(let inbox): inbox.start
        case .events(let chain): chain.position.start
        }
    }

    /// The offset of the next record that was not read.
    var next: Int64 {
        switch self {
        case .commands(let inbox): inbox.position.offset
        case .events(let chain): chain.position.offset
        }
    }
}

/// Reads commands from the position that the last valid event names, and notices when the topic is not the same any more.
struct CommandInbox: Sendable {
    let partition: TopicPartition
    private(set) var position: CommandPosition
    /// Whether the record before the position must be read again first.
    private var isRecognising: Bool

    init(_ partition: TopicPartition, at position: CommandPosition?) {
        self.partition = partition
        self.position = position ?? CommandPosition(offset: 0, time: Timestamp(milliseconds: 0))
        isRecognising = self.position.offset > 0
    }

    var start: Int64 { isRecognising ? position.offset - 1 : position.offset }

    /// Whether the record is new.
    mutating func read(_ record: Record) throws(LogError) -> Bool {
        if isRecognising {
            // Anything else was fetched before the reader was told to start here.
            guard record.offset == position.offset - 1 else { return false }
            guard record.time == position.time else { throw truncated }
            isRecognising = false
            return false
        }
        guard record.offset >= position.offset else { return false }
        position = CommandPosition(offset: record.offset + 1, time: record.time)
        return true
    }

    func reachedEnd(_ end: Int64) throws(LogError) {
        guard end >= position.offset else { throw truncated }
    }

    /// Retention has removed the records up to `begin`; nobody waits for them any more.
    mutating func skip(to begin: Int64, end: Int64) throws(LogError) {
        guard end >= position.offset else { throw truncated }
        isRecognising = false
        if begin > position.offset { position.offset = begin }
    }

    private var truncated: LogError {
        LogError(
            .truncated,
            "\(partition) is not what was read up to offset \(position.offset): commands were lost or the topic made anew")
    }
}

extension InboxMessage {
    /// Reads the headers of a command. `nil` when it is not one that Latchkey's writers write.
    public init?(command record: Record) {
        guard let id = record.text(HeaderName.id).flatMap(MessageID.init), let type = record.text(HeaderName.type),
            let fingerprint = record.header(HeaderName.mac)
        else { return nil }
        let budget = record.header(HeaderName.budget).flatMap { Int64(decimal: $0) }
        // Without a budget, somebody may wait until a deadline all the same.
        let deadline = record.header(HeaderName.deadline).flatMap { Int64(decimal: $0) }.map(Timestamp.init(milliseconds:))
        let remember = record.header(HeaderName.remember).flatMap { Int64(decimal: $0) } ?? 0
        self.init(
            partition: record.partition, offset: record.offset, time: record.time, id: id, type: type,
            subject: record.text(HeaderName.subject), key: record.key, data: record.value,
            traceParent: record.text(HeaderName.traceParent),
            replyTo: record.text(HeaderName.replyTo).flatMap(ReplyAddress.init(encoded:)),
            deadline: budget.map { record.time + min(.milliseconds($0), .longestMemory) } ?? deadline,
            remember: min(.milliseconds(remember), .longestMemory),
            client: record.text(HeaderName.client), fingerprint: Array(fingerprint.prefix(8)), isPerishable: budget != nil)
    }

    /// An event of another service, as an input.
    public init(event: EventEnvelope) {
        self.init(
            partition: event.partition, offset: event.offset, time: event.appended, id: event.id, type: event.body.type,
            subject: event.body.subject, key: event.key, data: event.body.data, traceParent: event.traceParent,
            replyTo: event.replyTo, deadline: event.deadline, remember: .zero, client: nil,
            fingerprint: Array(event.previous.prefix(8)), causation: event.causation)
    }
}

extension InboxMessage {
    /// Nobody waits longer than this, whatever the record says of itself.
    func awaited(atMost longestBudget: Interval) -> InboxMessage {
        var message = self
        message.deadline = deadline.map { min($0, time + longestBudget) }
        return message
    }
}

extension Record {
    /// A header as text.
    func text(_ name: String) -> String? { header(name).map { String(decoding: $0, as: UTF8.self) } }
}
