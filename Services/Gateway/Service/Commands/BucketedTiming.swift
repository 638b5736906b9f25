import Crypto
import EventSchema
import Runtime

/// When the answer to a command may leave.
public enum AnswerTiming: Sendable {
    /// As soon as it is there.
    case free
    /// At a set time, unless it says that all went well: then it tells of the account by itself.
    case evenUnlessOK
    /// At a set time.
    case even
}

/// Lets answers that must not tell of accounts leave at set times: every 25 ms, and when exactly follows from what the command is
/// about and from a secret. A known account costs a fraction of a millisecond more to look at; whether that moves an answer to
/// the next set time depends on what nobody outside knows, and does not change from one request to the next, so that no number
/// of them makes it up.
struct EvenTiming: CommandPath {
    static let step: Duration = .milliseconds(25)

    private let commands: any CommandPath
    private let phases: HMACSHA256
    private let sleep: @Sendable (Duration) async -> Void

    init(
        _ commands: any CommandPath, secret: Secret,
        sleep: @escaping @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0, tolerance: .zero) }
    ) {
        self.commands = commands
        phases = HMACSHA256(
            key: HKDFSHA256.derive(secret: secret, info: Array("latchkey.gateway.timing.v1".utf8), count: 32))
        self.sleep = sleep
    }

    func reply(to command: OutgoingCommand) async throws -> Reply {
        let reply = try await commands.reply(to: command)
        if command.timing.isEven(for: reply) {
            await sleep(Self.wait(remaining: ContinuousClock.now.duration(to: command.deadline), phase: phase(of: command.routingKey)))
        }
        return reply
    }

    /// How long before the deadline of a request, but for whole steps, its answer leaves.
    func phase(of key: RoutingKey) -> Duration {
        let number = phases.code(for: key.bytes).prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Self.step * (Double(number >> 11) / Double(1 << 53))
    }

    /// Until the next set time; none where that is behind the deadline.
    static func wait(remaining: Duration, phase: Duration) -> Duration {
        guard remaining >= phase else { return .zero }
        let steps = Int64((remaining - phase) / step)
        return max(.zero, remaining - phase - step * steps)
    }
}

extension AnswerTiming {
    /// One that is stale goes on to be decided.
    fileprivate func isEven(for reply: Reply) -> Bool {
        switch self {
        case .free: false
        case .evenUnlessOK: reply.outcome != .ok && reply.outcome != .stale
        case .even: reply.outcome != .stale
        }
    }
}
