import Synchronization
import Testing

@testable import GatewayService

@Suite struct `Questions that wait` {
    /// Batches as they were asked; each is answered when the test lets it be.
    private final class Desk: Sendable {
        private let batches = Mutex<[[Int]]>([])
        let gate = AsyncStream<Void>.makeStream()

        var asked: [[Int]] { batches.withLock { $0 } }

        func answer(_ batch: [Int]) async throws -> [Int] {
            batches.withLock { $0.append(batch) }
            for await _ in gate.stream { break }
            if batch.contains(-1) { throw APIError.unavailable }
            return batch.map { $0 * 10 }
        }
    }

    @Test func `become the next batch, answered in order`() async throws {
        let desk = Desk()
        let batcher = Batcher<Int, Int>(limit: 3) { try await desk.answer($0) }
        async let first = batcher.ask(1)
        while desk.asked.isEmpty { await Task.yield() }
        let others = Task {
            try await withThrowingTaskGroup(of: (Int, Int).self) { group in
                for number in 2...6 { group.addTask { (number, try await batcher.ask(number)) } }
                return try await group.reduce(into: [Int: Int]()) { $0[$1.0] = $1.1 }
            }
        }
        while batcher.count < 5 { await Task.yield() }
        for _ in 0..<3 { desk.gate.continuation.yield() }
        #expect(try await first == 10)
        #expect(try await others.value == [2: 20, 3: 30, 4: 40, 5: 50, 6: 60])
        #expect(desk.asked.map(\.count) == [1, 3, 2])
    }

    @Test func `all fail with their batch, and none with another`() async throws {
        let desk = Desk()
        let batcher = Batcher<Int, Int>(limit: 10) { try await desk.answer($0) }
        let bad = Task { try await batcher.ask(-1) }
        while desk.asked.isEmpty { await Task.yield() }
        async let good = batcher.ask(2)
        while batcher.count < 1 { await Task.yield() }
        for _ in 0..<2 { desk.gate.continuation.yield() }
        await #expect(throws: APIError.unavailable) { try await bad.value }
        #expect(try await good == 20)
    }

    @Test func `gather behind a batch of several until they are as many again, and go at once otherwise`() async throws {
        let desk = Desk()
        let batcher = Batcher<Int, Int>(limit: 10, gathering: .seconds(3_600)) { try await desk.answer($0) }
        for number in 1...3 {
            desk.gate.continuation.yield()
            #expect(try await batcher.ask(number) == number * 10)
        }
        async let first = batcher.ask(4)
        while desk.asked.count < 4 { await Task.yield() }
        let several = (5...8).map { number in Task { try await batcher.ask(number) } }
        while batcher.count < several.count { await Task.yield() }
        for _ in 0..<2 { desk.gate.continuation.yield() }
        #expect(try await first == 40)
        for task in several { _ = try await task.value }
        // Behind these four nothing is asked for an hour, unless four wait again.
        let late = (9...11).map { number in Task { try await batcher.ask(number) } }
        while batcher.count < late.count { await Task.yield() }
        for _ in 0..<1_000 { await Task.yield() }
        #expect(batcher.count == late.count)
        desk.gate.continuation.yield()
        #expect(try await batcher.ask(12) == 120)
        for task in late { _ = try await task.value }
        #expect(desk.asked.map(\.count) == [1, 1, 1, 1, 4, 4])
    }

    @Test func `are asked although their tasks are cancelled`() async throws {
        let desk = Desk()
        let batcher = Batcher<Int, Int>(limit: 10) { try await desk.answer($0) }
        let task = Task { try await batcher.ask(4) }
        while desk.asked.isEmpty { await Task.yield() }
        task.cancel()
        desk.gate.continuation.yield()
        #expect(try await task.value == 40)
    }
}
