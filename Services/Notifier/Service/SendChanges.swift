internal import EventLog
internal import EventSchema

/// What a batch of events changes in the table of open sends, each row once.
struct SendChanges: Sendable {
    enum Status: Equatable, Sendable {
        case attempting
        case waiting(DeliveryFailed.Reason, retryAt: Timestamp)
        case failed(DeliveryFailed.Reason)
        case unknown

        var name: String {
            switch self {
            case .attempting: "attempting"
            case .waiting: "waiting"
            case .failed: "failed"
            case .unknown: "unknown"
            }
        }

        var reason: String? {
            switch self {
            case .waiting(let reason, _), .failed(let reason): reason.rawValue
            case .attempting, .unknown: nil
            }
        }

        var retryAt: Timestamp? { if case .waiting(_, let retryAt) = self { retryAt } else { nil } }
    }

    /// A row as a whole: an attempt says all that there is to know of a send.
    struct Row: Equatable, Sendable {
        var partition: Int
        var attempt: DeliveryAttempted
        var attemptedAt: Timestamp
        var writer: String
        var status: Status
    }

    /// A row that was there before, with another status.
    struct Change: Equatable, Sendable {
        var send: MessageID
        var status: Status
    }

    private enum Effect {
        case put(Row)
        case change(Status)
        case end
    }

    private(set) var put: [Row] = []
    private(set) var changed: [Change] = []
    private(set) var ended: [MessageID] = []

    init(_ events: [ConfirmedEvent<DeliveryEvent>]) {
        var order: [MessageID] = []
        var effects: [MessageID: Effect] = [:]
        for confirmed in events {
            guard let event = confirmed.event else { continue }
            let before = effects[event.send]
            if before == nil { order.append(event.send) }
            effects[event.send] = Self.effect(of: event, confirmed.envelope, after: before)
        }
        for send in order {
            switch effects[send] {
            case .put(let row): put.append(row)
            case .change(let status): changed.append(Change(send: send, status: status))
            case .end: ended.append(send)
            case nil: break
            }
        }
    }

    private static func effect(of event: DeliveryEvent, _ envelope: EventEnvelope, after before: Effect?) -> Effect {
        func status(_ status: Status) -> Effect {
            switch before {
            case .put(var row):
                row.status = status
                return .put(row)
            case .end: return .end
            case .change, nil: return .change(status)
            }
        }
        switch event.content {
        case .deliveryAttempted(let attempt):
            return .put(
                Row(
                    partition: envelope.partition.partition, attempt: attempt, attemptedAt: envelope.time,
                    writer: envelope.writer,
                    status: .attempting))
        case .deliveryFailed(let failed):
            return status(failed.retryAt.map { .waiting(failed.reason, retryAt: $0) } ?? .failed(failed.reason))
        case .deliveryUnknown: return status(.unknown)
        case .delivered, .deliveryExpired: return .end
        }
    }
}
