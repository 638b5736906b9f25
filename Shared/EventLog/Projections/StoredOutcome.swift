internal import EventLog
internal import EventSchema

/// A command, and the partition that it was decided in: where one id comes to two partitions, these are two commands.
struct CommandPlace: Hashable, Sendable {
    var partition: Int
    var command: MessageID
}

/// What became of a command, as a row of the table `outcomes` says it.
struct StoredOutcome: Sendable {
    var place: CommandPlace
    var outcome: CommandOutcome
    var until: Timestamp

    /// The outcomes that events tell, one for each command: the first that is final, or the last.
    static func told<Domain: PartitionDomain>(by events: [ConfirmedEvent<Domain.Event>], of domain: Domain) -> [StoredOutcome] {
        var outcomes: [CommandPlace: StoredOutcome] = [:]
        for confirmed in events {
            let envelope = confirmed.envelope
            for command in domain.commands(rememberedBy: confirmed.event, envelope) where command.remember > .zero {
                let place = CommandPlace(partition: envelope.partition.partition, command: command.id)
                if outcomes[place]?.outcome.isFinal == true { continue }
                outcomes[place] = StoredOutcome(
                    place: place, outcome: command.outcome, until: envelope.appended + command.remember)
            }
        }
        return Array(outcomes.values)
    }

    var name: String {
        switch outcome {
        case .committed(.own): "answered"
        case .committed(.elsewhere): "answered-elsewhere"
        case .committed(.none): "silent"
        case .refused: "refused"
        case .expired: "expired"
        }
    }

    var detail: [UInt8]? {
        switch outcome {
        case .committed(.own(let answer)), .committed(.elsewhere(let answer)): answer.data
        case .committed(.none): nil
        case .refused(let code): Array(code.utf8)
        case .expired(let fingerprint): fingerprint
        }
    }

    /// `nil` where the row says something that this version does not know.
    static func outcome(named name: String, _ detail: [UInt8]?) -> CommandOutcome? {
        switch (name, detail) {
        case ("answered", let detail?): .committed(.own(Answer(data: detail)))
        case ("answered-elsewhere", let detail?): .committed(.elsewhere(Answer(data: detail)))
        case ("silent", nil): .committed(.none)
        case ("refused", let detail?): .refused(String(decoding: detail, as: UTF8.self))
        case ("expired", let detail?): .expired(detail)
        default: nil
        }
    }
}
