internal import EventLog
internal import EventSchema
internal import IdentityService
internal import LogBackends
internal import LoopService
internal import Runtime

/// What rebuilds are measured with: a log with a long past, and how fast it can be read at best.
@main
enum History {
    static func main() {
        ServiceProgram<IdentityConfiguration>(
            "history", "Makes and reads logs for measurements.", subcommands: [generate, read, ask]
        ) { _, _ in [] }.main()
    }

    private static let generate = Subcommand<IdentityConfiguration>(
        "generate", "EVENTS: appends so many events of made-up people to identity.events, which must be empty."
    ) { configuration, _, arguments in
        guard arguments.count == 1, let count = Int(arguments[0]), count > 0 else {
            return ExitStatus.usage("history generate EVENTS")
        }
        let seconds = try await BlockingPool.runOnce(name: "history") {
            try measured { try Generation(configuration).run(count) }
        }
        print(#"{"events":\#(count),"seconds":\#(seconds)}"#)
        return 0
    }

    private static let read = Subcommand<IdentityConfiguration>(
        "read", "reads identity.events as every reader must, with MAC and chain, on two threads, and does nothing with it."
    ) { configuration, _, _ in
        let (events, seconds) = try await BlockingPool.runOnce(name: "history") {
            var events = 0
            let seconds = try measured { events = try BareReading(configuration).run() }
            return (events, seconds)
        }
        print(#"{"events":\#(events),"seconds":\#(seconds)}"#)
        return 0
    }

    private static let ask = Subcommand<IdentityConfiguration>(
        "ask", "SECONDS: asks the running Identity so long, one question behind the other."
    ) { configuration, _, arguments in
        guard arguments.count == 1, let seconds = Int(arguments[0]) else { return ExitStatus.usage("history ask SECONDS") }
        let found = try await BlockingPool.runOnce(name: "history") {
            try Asking(configuration).run(for: .seconds(seconds))
        }
        print(#"{"answered":\#(found.answered),"unanswered":\#(found.unanswered),"longest":\#(found.longest)}"#)
        return 0
    }

    private static func measured(_ work: () throws -> Void) rethrows -> Double {
        let start = ContinuousClock.now
        try work()
        let (seconds, attoseconds) = start.duration(to: .now).components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}

/// Threads that share the partitions out, each taking the next when it is done with one.
func onTwoThreads(_ partitions: Int, _ work: @escaping @Sendable (Int) throws -> Void) throws {
    let rest = Waiting(partitions)
    let threads = (0..<2).map { number in
        WorkerThread(name: "history \(number)", stackSize: 8 << 20) { _ in
            while let partition = rest.next() { rest.note { try work(partition) } }
        }
    }
    for thread in threads { thread.start() }
    for thread in threads { while !thread.join(within: .seconds(1)) {} }
    try rest.check()
}
