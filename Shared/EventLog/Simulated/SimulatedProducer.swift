import EventLog
import EventSchema
import Runtime
import Synchronization

/// Appends on a thread of its own, in the order of the calls.
final class SimulatedProducer: LogProducer {
    private struct Job: Sendable {
        var record: OutgoingRecord
        var completion: @Sendable (Result<Appended, LogError>) -> Void
    }

    private let log: SimulatedLog
    private let jobs = Mailbox<Job>()
    private let done = Mailbox<Void>(limit: 1)
    private let unfinished = Atomic<Int>(0)
    private let isClosed = Atomic<Bool>(false)

    init(log: SimulatedLog) {
        self.log = log
        let thread = WorkerThread(name: "simulated-log") { [weak self, jobs] _ in
            while true {
                let batch = jobs.receive(within: nil)
                guard let self, !(batch.isEmpty && jobs.isClosed) else { return }
                for job in batch { self.perform(job) }
            }
        }
        thread.start()
    }

    deinit { jobs.close() }

    func append(_ record: OutgoingRecord, completion: @escaping @Sendable (Result<Appended, LogError>) -> Void) {
        unfinished.add(1, ordering: .sequentiallyConsistent)
        if !jobs.send(Job(record: record, completion: completion)) { finish(completion, .failure(SimulatedLog.closed)) }
    }

    private func perform(_ job: Job) {
        let deadline = ContinuousClock.now + log.messageTimeout
        while !log.isAvailable {
            guard ContinuousClock.now < deadline, !isClosed.load(ordering: .sequentiallyConsistent) else {
                return finish(job.completion, .failure(SimulatedLog.unavailable))
            }
            _ = done.receive(within: .milliseconds(5))
        }
        guard !isClosed.load(ordering: .sequentiallyConsistent) else {
            return finish(job.completion, .failure(SimulatedLog.closed))
        }
        let now = log.now()
        let result: Result<Appended, LogError> = log.change { state in
            do throws(LogError) {
                return .success(try state.contents.append(job.record, at: now))
            } catch {
                return .failure(error)
            }
        }
        finish(job.completion, result)
    }

    private func finish(_ completion: @Sendable (Result<Appended, LogError>) -> Void, _ result: Result<Appended, LogError>) {
        completion(result)
        unfinished.subtract(1, ordering: .sequentiallyConsistent)
        done.send(())
    }

    func flush(within time: Duration) -> Bool {
        let deadline = ContinuousClock.now + time
        while unfinished.load(ordering: .sequentiallyConsistent) > 0 {
            let left = deadline - ContinuousClock.now
            guard left > .zero else { return false }
            _ = done.receive(within: min(left, .milliseconds(20)))
        }
        return true
    }

    func close() {
        isClosed.store(true, ordering: .sequentiallyConsistent)
        jobs.close()
    }
}
