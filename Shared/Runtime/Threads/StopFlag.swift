import Synchronization

/// Tells a blocking loop that it should end.
public final class StopFlag: Sendable {
    private let raised = Atomic<Bool>(false)
    private let onRaise: @Sendable () -> Void

    /// - Parameter onRaise: wakes the loop where it waits; called once, on the thread that raises the flag.
    public init(onRaise: @escaping @Sendable () -> Void = {}) { self.onRaise = onRaise }

    public var isRaised: Bool { raised.load(ordering: .acquiring) }

    public func raise() {
        if !raised.exchange(true, ordering: .acquiringAndReleasing) { onRaise() }
    }
}
