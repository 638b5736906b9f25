import Synchronization

/// What a service still waits for before it can do its work: the source of `/readyz` and of the metric beside it.
///
/// Every part is named when the service is put together and starts as not ready.
public final class Readiness: Sendable {
    private let parts = Mutex<[(name: String, obstacle: String?)]>([])

    public init() {}

    /// Adds a part that is waited for. Calling it again for the same name changes nothing.
    public func expect(_ name: String, _ obstacle: String = "starting") {
        parts.withLock { parts in
            if !parts.contains(where: { $0.name == name }) { parts.append((name, obstacle)) }
        }
    }

    public func set(_ name: String, ready: Bool, _ obstacle: String = "not available") {
        parts.withLock { parts in
            if let index = parts.firstIndex(where: { $0.name == name }) {
                parts[index].obstacle = ready ? nil : obstacle
            } else {
                parts.append((name, ready ? nil : obstacle))
            }
        }
    }

    /// Parts that are not ready, each with the reason. The service is ready when there are none. The reasons are for
    /// operators and name nothing secret or personal.
    public var obstacles: [(name: String, obstacle: String)] {
        parts.withLock { parts in parts.compactMap { part in part.obstacle.map { (part.name, $0) } } }
    }

    public var isReady: Bool { parts.withLock { $0.allSatisfy { $0.obstacle == nil } } }
}
