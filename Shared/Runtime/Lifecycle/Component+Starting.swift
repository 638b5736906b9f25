extension Component {
    /// The same part, started once `wait` says so, and not at all when it says no or a shutdown comes first. `wait` must end
    /// when its task is cancelled.
    public func starting(after wait: @escaping @Sendable () async -> Bool) -> some Component {
        DelayedComponent(component: self, wait: wait)
    }
}

private struct DelayedComponent<Wrapped: Component>: Component {
    let component: Wrapped
    let wait: @Sendable () async -> Bool

    var name: String { component.name }
    var drainDeadline: Duration { component.drainDeadline }

    func run() async throws {
        let waiting = Task { await wait() }
        let mayStart = await withTaskCancellationHandler {
            await withGracefulShutdownHandler {
                await waiting.value
            } onShutdown: {
                waiting.cancel()
            }
        } onCancel: {
            waiting.cancel()
        }
        guard mayStart else { return }
        try await component.run()
    }
}
