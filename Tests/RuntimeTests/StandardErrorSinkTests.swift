import Glibc
import JSON
import Runtime
import Testing

@Suite struct StandardErrorSinkTests {
    private struct Pipe {
        let reader: Int32
        let writer: Int32

        init() {
            var ends: [Int32] = [0, 0]
            pipe(&ends)
            (reader, writer) = (ends[0], ends[1])
        }

        func readLines(_ limit: Int = 1 << 20) -> [[UInt8]] {
            var buffer = [UInt8](repeating: 0, count: limit)
            let count = read(reader, &buffer, limit)
            return buffer[..<max(0, count)].split(separator: UInt8(ascii: "\n")).map { Array($0) }
        }
    }

    private func logger(_ pipe: Pipe) -> Logger {
        Logger(service: "test", level: .debug, sink: StandardErrorSink(descriptor: pipe.writer))
    }

    @Test func `lines of many threads never mix`() async throws {
        let pipe = Pipe()
        let logger = logger(pipe)
        let reading = WorkerThread(name: "reader") { _ in
            var seen = 0
            var rest: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while seen < 800 {
                let count = read(pipe.reader, &buffer, buffer.count)
                guard count > 0 else { throw PipeEnded() }
                rest += buffer[..<count]
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    let line = try JSON.parse(Array(rest[..<end]))
                    #expect(line["message"]?.string == "from a thread")
                    rest.removeSubrange(...end)
                    seen += 1
                }
            }
        }
        reading.start()
        let pool = BlockingPool(name: "writers", threads: 8)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    try await pool.run {
                        for index in 0..<100 {
                            logger.info("from a thread", ["thread": .public(number), "line": .public(index)])
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        try await reading.ended()
        pool.close()
        close(pipe.reader)
        close(pipe.writer)
    }

    @Test func `a reader that went away does no harm`() {
        let pipe = Pipe()
        let logger = logger(pipe)
        close(pipe.reader)
        logger.info("nobody reads this")
        logger.info("nor this")
        close(pipe.writer)
    }

    @Test func `a reader that stalls delays nobody for long and learns later what it missed`() throws {
        let pipe = Pipe()
        let logger = logger(pipe)
        let filler = String(repeating: "x", count: 900)
        let start = ContinuousClock.now
        // A pipe holds 64 KiB; these are about 180.
        for index in 0..<200 { logger.info("line", ["index": .public(index), "filler": .public(filler)]) }
        #expect(ContinuousClock.now - start < .seconds(5))
        let held = pipe.readLines()
        #expect(held.count < 200)

        logger.info("afterwards")
        let lines = try pipe.readLines().map { try JSON.parse($0) }
        #expect(lines.map { $0["message"]?.string } == ["log lines were lost", "afterwards"])
        #expect(lines.first?["count"]?.int64 == Int64(200 - held.count))
        close(pipe.reader)
        close(pipe.writer)
    }

    private struct PipeEnded: Error {}
}
