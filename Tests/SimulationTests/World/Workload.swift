import EventLog
import EventLogSimulated
import EventSchema
import SeededRandom

/// A domain, and what its gateways ask of it.
protocol Workload {
    associatedtype Domain: PartitionDomain where Domain.Aggregate: Equatable

    /// Everything in it that is random must come from `random`.
    init(random: SeededGenerator)

    /// One domain for all processes.
    var domain: Domain { get }
    /// Storage, topics and budgets; the profile sets the rest.
    var settings: LoopSettings { get }
    /// A command, made after a look at what has happened.
    mutating func command(after events: ValidEvents) -> CommandDraft
    /// An event of the service upstream, where there is one.
    mutating func upstream() -> EventBody?
    /// What no record asks for, where there is such a thing.
    mutating func timer() -> Domain.Input?
    /// How the state of an aggregate looks once what has no influence on decisions is left out.
    func essence(of aggregate: Domain.Aggregate, at now: Timestamp) -> Domain.Aggregate?
}

extension Workload {
    mutating func upstream() -> EventBody? { nil }
    mutating func timer() -> Domain.Input? { nil }
}

struct CommandDraft {
    var type: String
    var subject: String?
    var key: [UInt8]
    var data: [UInt8]
}

/// A command that a client has sent, and may send again.
struct SentCommand {
    var id: MessageID
    var draft: CommandDraft
    /// Milliseconds.
    var budget: Int64
    var remember: Int64
    var sentAt: Int64
}
