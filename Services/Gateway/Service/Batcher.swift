import Runtime
import Synchronization

/// Turns questions into statements: what comes while one statement is in flight becomes the next one.
///
/// Under load a round trip then serves many requests, and a lone request never waits for others.
final class Batcher<Question: Sendable, Answer: Sendable>: Sendable {
    typealias Waiter = Handoff<Result<Answer, any Error>>

    private struct State {
        var waiting: [(question: Question, waiter: Waiter)] = []
        var isRunning = false
        /// Ends once so many wait.
        var gathering: (task: Task<Void, Never>, most: Int)?
    }

    private let limit: Int
    private let gathering: Duration
    private let run: @Sendable ([Question]) async throws -> [Answer]
    private let state = Mutex(State())

    /// - Parameters:
    ///   - limit: the number of questions in one batch.
    ///   - gathering: how long questions gather at most behind a batch that was asked by several, until they are as many again:
    ///     fewer and larger batches cost less.
    ///   - run: answers a batch, in its order. An error is everybody's.
    init(limit: Int, gathering: Duration = .zero, _ run: @escaping @Sendable ([Question]) async throws -> [Answer]) {
        self.limit = limit
        self.gathering = gathering
        self.run = run
    }

    /// Questions that are in no batch yet.
    var count: Int { state.withLock { $0.waiting.count } }

    /// Waits for the answer whether or not the task is cancelled meanwhile: what was counted was counted.
    func ask(_ question: Question) async throws -> Answer {
        let waiter = Waiter()
        let mustStart = state.withLock { state in
            state.waiting.append((question, waiter))
            if let (task, most) = state.gathering, state.waiting.count >= most { task.cancel() }
            defer { state.isRunning = true }
            return !state.isRunning
        }
        // A task of its own: the requests of a batch must not end with the one that began it.
        if mustStart { Task { await drain() } }
        return try await waiter.value.get()
    }

    private func drain() async {
        while let batch = next() {
            do {
                let answers = try await run(batch.map(\.question))
                precondition(answers.count == batch.count, "a batch was answered in part")
                for (entry, answer) in zip(batch, answers) { entry.waiter.resume(returning: .success(answer)) }
            } catch {
                for entry in batch { entry.waiter.resume(returning: .failure(error)) }
            }
            if gathering > .zero, batch.count > 1 { await gather(batch.count) }
        }
    }

    private func gather(_ most: Int) async {
        let task = state.withLock { state -> Task<Void, Never>? in
            guard state.waiting.count < most else { return nil }
            let task = Task { [gathering] in _ = try? await Task.sleep(for: gathering) }
            state.gathering = (task, most)
            return task
        }
        guard let task else { return }
        await task.value
        state.withLock { $0.gathering = nil }
    }

    private func next() -> [(question: Question, waiter: Waiter)]? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isRunning = false
                return nil
            }
            let batch = Array(state.waiting.prefix(limit))
            state.waiting.removeFirst(batch.count)
            return batch
        }
    }
}
