import EventLog
import EventSchema

/// Every input that any process has read, so that its decisions can be made again.
///
/// `@unchecked`: a simulation has one thread.
final class InputBook<Input: Sendable>: @unchecked Sendable {
    struct Place: Hashable {
        var partition: TopicPartition
        var offset: Int64
    }

    private var inputs: [Place: [(writer: String, input: Input)]] = [:]

    func note(_ input: Input, of message: InboxMessage, by writer: String) {
        inputs[Place(partition: message.partition, offset: message.offset), default: []].append((writer, input))
    }

    /// What a writer read there (more than once, perhaps), or, where it did not, what somebody read.
    func inputs(at place: Place, by writer: String) -> [Input] {
        let all = inputs[place] ?? []
        let own = all.filter { $0.writer == writer }
        return (own.isEmpty ? all : own).map(\.input)
    }
}

/// A domain that notes what it reads.
struct Noting<Base: PartitionDomain>: PartitionDomain {
    let base: Base
    let writer: String
    let book: InputBook<Base.Input>

    func read(_ message: InboxMessage) -> Reading<Base.Input> {
        let reading = base.read(message)
        if case .input(let input) = reading { book.note(input, of: message, by: writer) }
        return reading
    }

    func key(of input: Base.Input) -> Base.Key { base.key(of: input) }
    func key(of event: Base.Event) -> Base.Key { base.key(of: event) }
    var initial: Base.Aggregate { base.initial }

    func decide(_ input: Base.Input, at now: Timestamp, given aggregate: Base.Aggregate) -> Decision<Base.Event> {
        base.decide(input, at: now, given: aggregate)
    }

    func evolve(_ aggregate: inout Base.Aggregate, with event: Base.Event, at now: Timestamp) {
        base.evolve(&aggregate, with: event, at: now)
    }

    func isSpent(_ aggregate: Base.Aggregate, at now: Timestamp) -> Bool { base.isSpent(aggregate, at: now) }
    func forgetFuture(_ aggregate: inout Base.Aggregate, after now: Timestamp) { base.forgetFuture(&aggregate, after: now) }
    func owesAnswer(to message: InboxMessage) -> Bool { base.owesAnswer(to: message) }
    func encode(_ event: Base.Event) -> EventBody { base.encode(event) }
    func decode(_ body: EventBody) throws(UnreadableBody) -> Base.Event { try base.decode(body) }
    func answer(to event: Base.Event) -> Answer? { base.answer(to: event) }
    func answerElsewhere(to event: Base.Event) -> Answer? { base.answerElsewhere(to: event) }
    func answer(forRefusal code: String) -> Answer? { base.answer(forRefusal: code) }
}
