import EventSchema

/// When the answer to a command may leave.
public enum AnswerTiming: Sendable {
    /// As soon as it is there.
    case free
    /// At the end of a bucket, unless it says that all went well: then it tells of the account by itself.
    case bucketedUnlessOK
    /// At the end of a bucket.
    case bucketed
}

/// Lets answers that must not tell of accounts leave at the end of a bucket of time.
///
/// To look at an account that is there costs a fraction of a millisecond more than to look for one that is not. A bucket is
/// several times as long as such a request takes on a machine that keeps up, so that nearly all leave at the end of the first,
/// whatever they cost. Only those that take just as long as a bucket, on a machine that is kept busy, can tell by falling into
/// one or the other; how many of them there are is bounded by the limits.
struct BucketedTiming: CommandPath {
    /// Buckets are counted back from the request's deadline, which stands the same time after it came for all.
    static let bucket: Duration = .milliseconds(100)

    let commands: any CommandPath
    let pause: @Sendable (Duration) async -> Void

    func reply(to command: OutgoingCommand) async throws -> Reply {
        let reply = try await commands.reply(to: command)
        // What is made anew is answered after that.
        let isAnswer = reply.outcome != .stale || command.isLastAttempt
        if isAnswer, command.timing.isBucketed(for: reply) {
            await pause(Self.wait(remaining: ContinuousClock.now.duration(to: command.deadline)))
        }
        return reply
    }

    /// Until the bucket ends; none behind the deadline.
    static func wait(remaining: Duration) -> Duration {
        max(.zero, remaining - bucket * Int64(remaining / bucket))
    }
}

extension AnswerTiming {
    fileprivate func isBucketed(for reply: Reply) -> Bool {
        switch self {
        case .free: false
        case .bucketedUnlessOK: reply.outcome != .ok
        case .bucketed: true
        }
    }
}
