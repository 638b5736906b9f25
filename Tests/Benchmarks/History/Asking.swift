internal import Crypto
internal import EventLog
internal import EventSchema
internal import IdentityService
internal import LogBackends
internal import LoopService
internal import Runtime

/// Asks the running Identity again and again, one question behind the other, each answered only when its event is projected.
struct Asking {
    struct Found {
        var answered = 0
        var unanswered = 0
        /// Of one question, in seconds.
        var longest = 0.0
    }

    private let line: OperatorLine

    init(_ configuration: IdentityConfiguration) throws {
        line = try OperatorLine(
            log: ConfiguredLog.make(configuration.common), authenticator: RecordAuthenticator(configuration.common.macKeys),
            patience: .seconds(10))
    }

    func run(for duration: Duration) throws -> Found {
        defer { line.close() }
        var found = Found()
        let end = ContinuousClock.now + duration
        while ContinuousClock.now < end {
            guard let subject = Subject(bytes: Random.bytes(16)), let address = AddressTag(bytes: Random.bytes(8)) else {
                continue
            }
            // The failed login of nobody: an event, and a row.
            let request = OperatorLine.Request(
                command: LogIn(subject: subject, account: nil, verdict: .wrong, address: address, profileVersion: 0, client: nil),
                home: subject.routingKey, subject: subject)
            let start = ContinuousClock.now
            let replies = try line.ask([request])
            if replies.isEmpty { found.unanswered += 1 } else { found.answered += 1 }
            let (seconds, attoseconds) = start.duration(to: .now).components
            found.longest = max(found.longest, Double(seconds) + Double(attoseconds) / 1e18)
        }
        return found
    }
}
