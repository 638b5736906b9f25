import Glibc
import Runtime

private let threads = BlockingPool(name: "curl-tests", threads: 16)

/// Calls that block, off Swift's own threads.
func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await threads.run(body)
}

/// Leaves the processor to others for a moment.
func pause() { sched_yield() }
