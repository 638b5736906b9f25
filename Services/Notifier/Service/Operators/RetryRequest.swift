public import EventLog
internal import EventSchema
internal import LoopService

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
        let line = try OperatorLine(log: log, authenticator: authenticator, patience: patience)
        defer { line.close() }
        let request = OperatorLine.Request(
            command: RetryDelivery(send: send.id), home: send.subject.routingKey, subject: send.subject)
        return switch try line.ask([request])[request.id]?.outcome {
        case .ok: .accepted
        case DeliveryPartition.notFailed: .notFailed
        case DeliveryPartition.expired: .expired
        case nil: .silence
        default: .unknownSend
        }
    }
}
