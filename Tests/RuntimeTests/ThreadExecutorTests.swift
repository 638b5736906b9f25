import Glibc
import Runtime
import Testing

@Suite struct ThreadExecutorTests {
    private actor Worker {
        private let executor = ThreadExecutor(name: "worker")
        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
        private var count = 0

        func step() -> (count: Int, name: String) {
            count += 1
            var buffer = [UInt8](repeating: 0, count: 64)
            let file = open("/proc/thread-self/comm", O_RDONLY)
            let read = read(file, &buffer, buffer.count)
            close(file)
            return (count, String(decoding: buffer[..<max(0, read)], as: UTF8.self))
        }

        func steps() async -> Set<String> {
            var names: Set<String> = []
            for _ in 0..<10 {
                names.insert(step().name)
                await Task.yield()
            }
            return names
        }
    }

    @Test func `everything an actor does happens on its thread`() async {
        let worker = Worker()
        #expect(await worker.step().count == 1)
        #expect(await worker.steps() == ["worker\n"])
        #expect(await worker.step().count == 12)
    }

    @Test func `many actors come and go`() async {
        for _ in 0..<50 {
            let worker = Worker()
            #expect(await worker.step().count == 1)
        }
    }
}
