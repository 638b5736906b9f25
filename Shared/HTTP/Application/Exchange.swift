import Synchronization

/// One request and its one answer: the handler's, or that of whoever is first (deadline, stop). Later ones are dropped.
final class Exchange: Alarm, @unchecked Sendable {
    private let application: HTTPApplication
    private let request: Request
    private let context: RequestContext
    private let onResponse: @Sendable (Response) -> Void
    private let started = AlarmClock.now
    private let isAnswered = Atomic<Bool>(false)
    private let isWatched = Atomic<Bool>(false)
    /// Set before `isWatched`, and only read by whoever saw that: part of the reason for `@unchecked`.
    private var task: Task<Void, Never>?

    init(
        application: HTTPApplication, request: Request, context: RequestContext,
        onResponse: @escaping @Sendable (Response) -> Void
    ) {
        self.application = application
        self.request = request
        self.context = context
        self.onResponse = onResponse
    }

    func run(_ handler: Handler) async {
        do {
            finish(try await handler(request, context))
        } catch let failure as HTTPFailure {
            finish(application.failures.complete(failure))
        } catch let error as any HTTPResponseError {
            finish(error.response)
        } catch {
            finish(application.failures.complete(.internalError), fault: error)
        }
    }

    func finish(_ response: Response, fault: (any Error)? = nil) {
        guard !isAnswered.exchange(true, ordering: .sequentiallyConsistent) else { return }
        if isWatched.load(ordering: .sequentiallyConsistent) { AlarmClock.shared.remove(self) }
        var response = response
        application.complete(&response, for: request, context)
        application.observe(
            Observation(
                requestID: context.requestID, trace: context.trace, method: request.method, path: request.path.raw,
                route: context.route, status: response.status, duration: .nanoseconds(AlarmClock.now - started),
                peer: request.peer,
                requestBytes: request.body.count, responseBytes: response.body.count, fault: fault, request: request))
        onResponse(response)
    }

    /// Lets the deadline answer if the handler has not done so by then. A handler that never waited needs no alarm.
    func watch(_ task: Task<Void, Never>, for deadline: Duration) {
        guard !isAnswered.load(ordering: .sequentiallyConsistent) else { return }
        self.task = task
        isWatched.store(true, ordering: .sequentiallyConsistent)
        AlarmClock.shared.add(self, at: started + deadline.nanoseconds)
        if isAnswered.load(ordering: .sequentiallyConsistent) { AlarmClock.shared.remove(self) }
    }

    override func ring() {
        abandon(.timeout)
    }

    /// Answers for a handler that nobody waits for any longer, and cancels it.
    func abandon(_ failure: HTTPFailure) {
        finish(application.failures.complete(failure))
        if isWatched.load(ordering: .sequentiallyConsistent) { task?.cancel() }
    }
}
