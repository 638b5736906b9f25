/// Why a ``BlockingPool`` did not run something.
public enum BlockingPoolError: Error, Equatable {
    /// As much as the pool takes is waiting already.
    case full
    case closed
}

/// A bounded pool of threads of ours for work that blocks or computes for long.
///
/// Swift's own pool is as small as the machine: one blocking call per core there stops everything else.
public final class BlockingPool: Sendable {
    private struct Job: Sendable {
        let number: UInt64
        let run: @Sendable () -> Void
        let abandon: @Sendable (any Error) -> Void
    }

    private struct State: Sendable {
        var queue: [Job] = []
        var nextNumber: UInt64 = 0
        var threads = 0
        var idle = 0
        var isClosed = false
    }

    public let name: String
    private let threads: Int
    private let queueLimit: Int
    private let state = Condition(State())

    /// Threads start when there is work for them.
    ///
    /// - Parameters:
    ///   - threads: how many calls run at the same time, at least 1.
    ///   - queueLimit: how many calls may wait beside those that run.
    public init(name: String, threads: Int, queueLimit: Int = .max) {
        precondition(threads > 0, "a pool needs a thread")
        self.name = name
        self.threads = threads
        self.queueLimit = queueLimit
    }

    /// Runs `body` on one of the pool's threads. Throws ``BlockingPoolError`` when it was never started, and
    /// `CancellationError` when the task was cancelled before it was; once running it is waited for.
    public func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        let number = state.update { state in
            state.nextNumber += 1
            return state.nextNumber
        }
        let outcome = Handoff<Result<Value, any Error>>()
        return try await withTaskCancellationHandler {
            submit(
                Job(
                    number: number,
                    run: { outcome.resume(returning: Result { try body() }) },
                    abandon: { outcome.resume(returning: .failure($0)) }))
            return try await outcome.value.get()
        } onCancel: {
            cancel(number)
        }
    }

    /// Runs one thing on a thread of its own.
    public static func runOnce<Value: Sendable>(
        name: String, _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        let pool = BlockingPool(name: name, threads: 1)
        defer { pool.close() }
        return try await pool.run(body)
    }

    /// Takes nothing more, abandons what waits, and lets the threads end after what they run. Returns at once.
    public func close() {
        let abandoned = state.update { state in
            state.isClosed = true
            defer { state.queue = [] }
            return state.queue
        }
        for job in abandoned { job.abandon(BlockingPoolError.closed) }
    }

    /// Calls that wait for a thread.
    public var waiting: Int { state.read { $0.queue.count } }

    private enum Admission {
        case queued
        case queuedWithNewThread
        case refused(any Error)
    }

    private func submit(_ job: Job) {
        // A task that was cancelled before it got here would never be found by `cancel`.
        guard !Task.isCancelled else { return job.abandon(CancellationError()) }
        let admission: Admission = state.update { state in
            guard !state.isClosed else { return .refused(BlockingPoolError.closed) }
            let free = state.idle + (threads - state.threads)
            guard state.queue.count - free < queueLimit else { return .refused(BlockingPoolError.full) }
            state.queue.append(job)
            guard state.queue.count > state.idle, state.threads < threads else { return .queued }
            state.threads += 1
            return .queuedWithNewThread
        }
        switch admission {
        case .queued: break
        case .queuedWithNewThread: OwnedThread.start(name: name) { [weak self] in self?.work() }
        case .refused(let error): job.abandon(error)
        }
    }

    private func cancel(_ number: UInt64) {
        let job = state.update { state in
            state.queue.firstIndex { $0.number == number }.map { state.queue.remove(at: $0) }
        }
        job?.abandon(CancellationError())
    }

    private func work() {
        while let job = nextJob() { job.run() }
    }

    private func nextJob() -> Job? {
        state.update { $0.idle += 1 }
        return state.wait(within: nil) { (state: inout State) -> Job?? in
            guard !state.queue.isEmpty else {
                guard state.isClosed else { return nil }
                state.idle -= 1
                state.threads -= 1
                return .some(nil)
            }
            state.idle -= 1
            return state.queue.removeFirst()
        } ?? nil
    }
}
