internal import EventSchema
internal import NotifierDomain
internal import Runtime
internal import Synchronization

/// The attempts that wait for one provider, and the threads on which they are handed to it.
final class ProviderLine: Sendable {
    struct Job: Sendable {
        var attempt: DeliveryAttempted
        /// Somebody may have handed it over before.
        var isRepeat: Bool
    }

    enum Verdict: Equatable, Sendable {
        case concluded(Delivery.Outcome)
        /// The provider may have taken it, and removes doubles: it is to be handed over again.
        case unsure
        /// It could not be handed over yet.
        case postponed
    }

    let provider: any Provider
    private let composer: MessageComposer
    private let clock: @Sendable () -> Timestamp?
    private let report: @Sendable (Job, Verdict) -> Void
    private let jobs = Mailbox<Job>()
    private let breaker: Mutex<CircuitBreaker>
    private let working = Atomic<Int>(0)

    /// - Parameters:
    ///   - clock: the log's time, which is known once there are jobs.
    ///   - report: called on the threads of the line, once for each job.
    init(
        _ provider: any Provider, composer: MessageComposer, breaker: CircuitBreaker = CircuitBreaker(),
        clock: @escaping @Sendable () -> Timestamp?, report: @escaping @Sendable (Job, Verdict) -> Void
    ) {
        self.provider = provider
        self.composer = composer
        self.breaker = Mutex(breaker)
        self.clock = clock
        self.report = report
    }

    func start() {
        for number in 1...max(provider.concurrency, 1) {
            WorkerThread(name: "\(provider.name)-\(number)") { [self] _ in work() }.start()
        }
    }

    func send(_ job: Job) { jobs.send(job) }

    /// Takes back what no thread has begun with: it certainly was not sent, which nobody could tell later.
    func withdraw() {
        for job in jobs.receive(within: .zero) { report(job, job.isRepeat ? .unsure : .concluded(.failed(.unavailable))) }
    }

    /// Lets the threads end after what waits is done.
    func close() {
        jobs.close()
        provider.close()
    }

    /// Jobs that wait or are being worked on.
    var count: Int { jobs.count + working.load(ordering: .relaxed) }

    private func work() {
        let size = max(provider.batchSize, 1)
        while true {
            let batch = jobs.receive(within: nil, atMost: size)
            if batch.isEmpty, jobs.isClosed { return }
            working.add(batch.count, ordering: .relaxed)
            if !batch.isEmpty { deliver(batch) }
            working.subtract(batch.count, ordering: .relaxed)
        }
    }

    private func deliver(_ jobs: [Job]) {
        guard let now = clock() else {
            // Only before this instance has ever owned a partition, when there is nothing to deliver.
            for job in jobs { report(job, .postponed) }
            return
        }
        var due: [(job: Job, message: OutgoingMessage)] = []
        for job in jobs {
            let isLate = now >= job.attempt.expiresAt
            switch (isLate ? .unreadable : composer.compose(job.attempt, at: now), hasBeenTaken(job)) {
            case (_, true?): report(job, .concluded(.delivered(providerID: nil)))
            case (.message(let message), false?): due.append((job, message))
            case (.message(let message), nil) where provider.removesDoubles: due.append((job, message))
            case (.keyMissing, false?): report(job, .postponed)
            case (.unreadable, false?): report(job, .concluded(.expired))
            case (.keyMissing, nil) where provider.removesDoubles: report(job, .postponed)
            case (_, nil): report(job, .concluded(.unknown))
            }
        }
        guard !due.isEmpty else { return }
        if let wait = breaker.withLock({ $0.refusal(at: now) }) {
            for (job, _) in due { report(job, job.isRepeat ? .unsure : .concluded(.failed(.circuitOpen, retryAfter: wait))) }
            return
        }
        let results = provider.deliver(due.map(\.message))
        for ((job, _), result) in zip(due, results) {
            note(result)
            report(job, verdict(of: result, job))
        }
    }

    /// `nil`: nobody can tell.
    private func hasBeenTaken(_ job: Job) -> Bool? {
        job.isRepeat ? provider.hasTaken(job.attempt.send, since: job.attempt.requestedAt) : false
    }

    private func verdict(of result: ProviderResult, _ job: Job) -> Verdict {
        switch result {
        case .delivered(let providerID): return .concluded(.delivered(providerID: providerID))
        case .unknown: return provider.removesDoubles ? .unsure : .concluded(.unknown)
        case .failed(let reason, let retryAfter):
            // That this call failed says nothing of an earlier one.
            return hasBeenTaken(job) == false ? .concluded(.failed(reason, retryAfter: retryAfter)) : .unsure
        }
    }

    private func note(_ result: ProviderResult) {
        guard let now = clock() else { return }
        breaker.withLock { breaker in
            switch result {
            case .failed(.unreachable, _), .failed(.timeout, _), .failed(.unavailable, _), .unknown: breaker.failed(at: now)
            case .delivered, .failed: breaker.succeeded()
            }
        }
    }
}
