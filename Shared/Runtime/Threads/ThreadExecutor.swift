/// An executor of one thread: an actor that names it as its `unownedExecutor` may block without starving anybody else.
///
/// ```swift
/// actor Hasher {
///     private let executor = ThreadExecutor(name: "hasher")
///     nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
/// }
/// ```
/// The thread starts with the first job, and ends when the executor is released.
public final class ThreadExecutor: SerialExecutor {
    private struct State: Sendable {
        var jobs: [UnownedJob] = []
        var isStarted = false
        var isClosed = false
    }

    public let name: String
    private let state = Condition(State())

    public init(name: String) { self.name = name }

    deinit { state.update { $0.isClosed = true } }

    public func enqueue(_ job: consuming ExecutorJob) {
        let unowned = UnownedJob(job)
        let mustStart = state.update { state in
            state.jobs.append(unowned)
            defer { state.isStarted = true }
            return !state.isStarted
        }
        // An actor keeps its executor for as long as it has jobs, so the thread needs the queue alone.
        if mustStart {
            OwnedThread.start(name: name) { [state, identity = asUnownedSerialExecutor()] in Self.work(state, identity) }
        }
    }

    private static func work(_ state: Condition<State>, _ identity: UnownedSerialExecutor) {
        while true {
            let jobs: [UnownedJob]? =
                state.wait(within: nil) { (state: inout State) -> [UnownedJob]?? in
                    if !state.jobs.isEmpty {
                        defer { state.jobs = [] }
                        return state.jobs
                    }
                    return state.isClosed ? .some(nil) : nil
                } ?? nil
            guard let jobs else { return }
            for job in jobs { job.runSynchronously(on: identity) }
        }
    }
}
