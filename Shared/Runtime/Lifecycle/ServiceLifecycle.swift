/// Runs the components of a service together and ends them in order.
///
/// They stand in the order of their dependencies: what others need comes first. All start together; a shutdown asks the last
/// one first, waits until it has returned (past its deadline it is cancelled), and goes on with the one before it.
public struct ServiceLifecycle: Sendable {
    private let components: [any Component]
    private let logger: Logger
    private let readiness: Readiness?
    private let cancelDeadline: Duration

    /// - Parameters:
    ///   - readiness: says that the service is not ready from the moment it begins to stop.
    ///   - cancelDeadline: how long a cancelled component is waited for before it is left behind.
    public init(
        _ components: [any Component], logger: Logger, readiness: Readiness? = nil, cancelDeadline: Duration = .seconds(2)
    ) {
        self.components = components
        self.logger = logger
        self.readiness = readiness
        self.cancelDeadline = cancelDeadline
    }

    /// What can happen to a running service.
    private enum Happening: Sendable {
        case ended(Int, Failure?)
        /// Another one while the first is being followed means: at once.
        case stopRequested
        case deadline(step: Int)
    }

    private struct Failure: Sendable {
        let type: String
        let text: String
    }

    /// Runs until the components have ended. `stop` yields once for each time that somebody asks the service to stop; the
    /// second one cancels everything that still runs.
    ///
    /// Returns the exit status: 0 when the service was asked to stop and every component ended without an error, 1 otherwise.
    /// Components that do not end even when cancelled are left behind: the process should exit at once.
    public func run(stop: AsyncStream<Void>) async -> Int32 {
        let (happenings, report) = AsyncStream.makeStream(of: Happening.self)
        let stopping = Task {
            for await _ in stop { report.yield(.stopRequested) }
        }
        let signals = components.map { _ in ShutdownSignal() }
        let tasks = zip(components.indices, components).map { index, component in
            Task {
                await ShutdownSignal.$current.withValue(signals[index]) {
                    do {
                        try await component.run()
                        report.yield(.ended(index, nil))
                    } catch {
                        report.yield(.ended(index, Failure(type: "\(type(of: error))", text: "\(error)")))
                    }
                }
            }
        }
        defer {
            stopping.cancel()
            report.finish()
        }
        if components.isEmpty { return 0 }

        var status: Int32 = 0
        var running = Set(components.indices)
        var isStopping = false
        var current: Int?
        var isHurrying = false
        var step = 0

        func startTimer(_ duration: Duration) {
            step += 1
            let step = step
            Task {
                try? await Task.sleep(for: duration)
                report.yield(.deadline(step: step))
            }
        }
        func askNext() {
            current = running.max()
            guard let current else { return }
            signals[current].request()
            startTimer(components[current].drainDeadline)
        }
        func beginToStop() {
            isStopping = true
            readiness?.set("service", ready: false, "stopping")
            askNext()
        }
        func hurry() {
            guard !isHurrying else { return }
            isHurrying = true
            for index in running { tasks[index].cancel() }
            startTimer(cancelDeadline)
        }

        for await happening in happenings {
            switch happening {
            case .ended(let index, let failure):
                running.remove(index)
                let wasAsked = isStopping && (signals[index].isRequested || tasks[index].isCancelled)
                if let failure, !(wasAsked && failure.type == "CancellationError") {
                    status = 1
                    logger.error(
                        "component failed",
                        [
                            "component": .public(components[index].name), "error": .public(failure.type),
                            "reason": .public(failure.text),
                        ])
                } else if !wasAsked {
                    status = 1
                    logger.error("component ended unasked", ["component": .public(components[index].name)])
                }
                if running.isEmpty { return status }
                if !isStopping {
                    beginToStop()
                } else if index == current, !isHurrying {
                    askNext()
                }
            case .stopRequested:
                if !isStopping {
                    logger.info("stopping")
                    beginToStop()
                } else {
                    logger.warning("stopping at once")
                    hurry()
                }
            case .deadline(step):
                if isHurrying {
                    for index in running.sorted() {
                        logger.error("component did not end", ["component": .public(components[index].name)])
                    }
                    return 1
                }
                if let current, running.contains(current), !tasks[current].isCancelled {
                    logger.warning("component is past its deadline", ["component": .public(components[current].name)])
                    status = 1
                    tasks[current].cancel()
                    startTimer(cancelDeadline)
                } else if let late = current {
                    logger.error("component did not end", ["component": .public(components[late].name)])
                    running.remove(late)
                    status = 1
                    if running.isEmpty { return status }
                    askNext()
                }
            case .deadline:
                break
            }
        }
        return status
    }
}
