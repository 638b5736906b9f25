import Runtime
import Testing

@Suite struct BlockingPoolTests {
    private struct Broken: Error {}

    /// Holds threads of a pool until it is opened.
    private final class Gate: Sendable {
        let entered = Observed(0)
        private let mailbox = Mailbox<Void>()

        func pass() {
            entered.update { $0 += 1 }
            _ = mailbox.receive(within: nil)
            mailbox.wake()
        }

        func open() { mailbox.wake() }
    }

    @Test func `results and errors come back`() async throws {
        let pool = BlockingPool(name: "pool", threads: 2)
        defer { pool.close() }
        #expect(try await pool.run { 6 * 7 } == 42)
        await #expect(throws: Broken.self) { try await pool.run { throw Broken() } }
        #expect(try await pool.run { "again" } == "again")
    }

    @Test func `as many run as there are threads, as many wait as may, and the rest is refused`() async throws {
        let pool = BlockingPool(name: "pool", threads: 2, queueLimit: 1)
        let gate = Gate()
        let first = Task { try await pool.run { gate.pass() } }
        let second = Task { try await pool.run { gate.pass() } }
        await gate.entered.wait { $0 == 2 }
        let third = Task { try await pool.run { gate.pass() } }
        while pool.waiting < 1 { await Task.yield() }
        await #expect(throws: BlockingPoolError.full) { try await pool.run {} }
        gate.open()
        try await first.value
        try await second.value
        try await third.value
        pool.close()
    }

    @Test func `what waits can be cancelled, what runs is waited for`() async throws {
        let pool = BlockingPool(name: "pool", threads: 1)
        let gate = Gate()
        let running = Task {
            try await pool.run {
                gate.pass()
                return "done"
            }
        }
        await gate.entered.wait { $0 == 1 }
        let waiting = Task { try await pool.run {} }
        while pool.waiting < 1 { await Task.yield() }
        waiting.cancel()
        running.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        gate.open()
        #expect(try await running.value == "done")
        pool.close()
    }

    @Test func `a closed pool abandons what waits and finishes what runs`() async throws {
        let pool = BlockingPool(name: "pool", threads: 1)
        let gate = Gate()
        let running = Task { try await pool.run { gate.pass() } }
        await gate.entered.wait { $0 == 1 }
        let waiting = Task { try await pool.run {} }
        while pool.waiting < 1 { await Task.yield() }
        pool.close()
        await #expect(throws: BlockingPoolError.closed) { try await waiting.value }
        await #expect(throws: BlockingPoolError.closed) { try await pool.run {} }
        gate.open()
        try await running.value
    }

    @Test func `blocked threads do not hold up Swift's own`() async throws {
        let pool = BlockingPool(name: "pool", threads: 16)
        let gate = Gate()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<16 { group.addTask { try await pool.run { gate.pass() } } }
            await gate.entered.wait { $0 == 16 }
            // All threads of the pool are blocked, and this still runs.
            gate.open()
            try await group.waitForAll()
        }
        pool.close()
    }
}
