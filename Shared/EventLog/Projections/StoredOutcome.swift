package import EventLog
package import EventSchema

/// A command, and the partition that it was decided in: where one id comes to two partitions, these are two commands.
package struct CommandPlace: Hashable, Sendable {
    package var partition: Int
    package var command: MessageID
}

/// What became of a command, as a row of the table `outcomes` says it.
package struct StoredOutcome: Sendable {
    package var place: CommandPlace
    package var outcome: CommandOutcome
    package var until: Timestamp

    /// The outcomes that events tell, one for each command: the first that is final, or the last.
    package static func told<Domain: PartitionDomain>(
        by events: some Sequence<(event: Domain.Event?, envelope: EventEnvelope)>, of domain: Domain
    ) -> [StoredOutcome] {
        var outcomes: [CommandPlace: StoredOutcome] = [:]
        for (event, envelope) in events {
            for command in domain.commands(rememberedBy: event, envelope) where command.remember > .zero {
                let place = CommandPlace(partition: envelope.partition.partition, command: command.id)
                if outcomes[place]?.outcome.isFinal == true { continue }
                outcomes[place] = StoredOutcome(
                    place: place, outcome: command.outcome, until: envelope.appended + command.remember)
            }
        }
        return Array(outcomes.values)
    }

    package var name: String {
        switch outcome {
        case .committed(.own): "answered"
        case .committed(.elsewhere): "answered-elsewhere"
        case .committed(.none): "silent"
        case .refused: "refused"
        case .expired: "expired"
        }
    }

    package var detail: [UInt8]? {
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
