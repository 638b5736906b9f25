import Glibc
import JSON
import Testing

@testable import Runtime

@Suite struct StandardErrorSinkTests {
    private struct Pipe {
        let reader: Int32
        let writer: Int32

        /// - Parameter packets: each read gives what one write gave.
        init(packets: Bool = false) {
            var ends: [Int32] = [0, 0]
            _ = packets ? socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends) : pipe(&ends)
            (reader, writer) = (ends[0], ends[1])
        }

        /// Waits until there is something.
        func readLines(_ limit: Int = 1 << 20) -> [[UInt8]] {
            var buffer = [UInt8](repeating: 0, count: limit)
            let count = read(reader, &buffer, limit)
            return buffer[..<max(0, count)].split(separator: UInt8(ascii: "\n")).map { Array($0) }
        }

        /// What is there already.
        func readLinesAtOnce() -> [[UInt8]] {
            var poll = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
            return Glibc.poll(&poll, 1, 0) == 1 ? readLines() : []
        }

        func close() {
            Glibc.close(reader)
            Glibc.close(writer)
        }
    }

    private func logger(_ pipe: Pipe, capacity: Int = 1 << 18) -> Logger {
        Logger(service: "test", level: .debug, sink: StandardErrorSink(descriptor: pipe.writer, capacity: capacity))
    }

    /// Messages of `lines`, each with its `index`.
    private func indices(_ lines: [[UInt8]], of message: String) throws -> [Int64] {
        try lines.map { try JSON.parse($0) }.filter { $0["message"]?.string == message }.compactMap { $0["index"]?.int64 }
    }

    @Test func `a line that stands alone comes by itself`() throws {
        let pipe = Pipe()
        let logger = logger(pipe)
        for index in 0..<3 {
            logger.info("line", ["index": .public(index)])
            #expect(try indices(pipe.readLines(), of: "line") == [Int64(index)])
        }
        logger.flush()
        pipe.close()
    }

    @Test(arguments: [1 << 18, 0]) func `lines of many threads never mix, and stay in order`(capacity: Int) async throws {
        let pipe = Pipe()
        let logger = logger(pipe, capacity: capacity)
        let reading = WorkerThread(name: "reader") { _ in
            var seen = 0
            var last: [Int64: Int64] = [:]
            var rest: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while seen < 800 {
                let count = read(pipe.reader, &buffer, buffer.count)
                guard count > 0 else { throw PipeEnded() }
                rest += buffer[..<count]
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    let line = try JSON.parse(Array(rest[..<end]))
                    #expect(line["message"]?.string == "from a thread")
                    let (thread, index) = (line["thread"]?.int64 ?? -1, line["line"]?.int64 ?? -1)
                    #expect(index == last[thread, default: -1] + 1)
                    last[thread] = index
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
                            logger.log(
                                index % 10 == 9 ? .error : .info, "from a thread",
                                ["thread": .public(number), "line": .public(index)])
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        try await reading.ended()
        pool.close()
        logger.flush()
        pipe.close()
    }

    @Test func `an error is out at once, behind what was said before, and so is everything after a flush`() throws {
        let pipe = Pipe()
        let logger = logger(pipe)
        for index in 0..<50 { logger.info("line", ["index": .public(index)]) }
        logger.error("line", ["index": 50])
        #expect(try indices(pipe.readLinesAtOnce(), of: "line") == Array(0...50))
        for index in 0..<50 { logger.info("line", ["index": .public(index)]) }
        logger.flush()
        #expect(try indices(pipe.readLinesAtOnce(), of: "line") == Array(0..<50))
        pipe.close()
    }

    @Test func `last words are whole lines in each write, so that others may write in between`() throws {
        let pipe = Pipe(packets: true)
        let writer = LineWriter(descriptor: pipe.writer, capacity: 1 << 18)
        // From here on nobody else writes.
        writer.stop()
        let lines = (0..<1_000).map { "line \($0) of some length" }
        for line in lines { writer.add(Array("\(line)\n".utf8)) { _ in [] } }
        writer.writeLastWords()
        Glibc.close(pipe.writer)
        var said: [String] = []
        var packet = [UInt8](repeating: 0, count: 65_536)
        while case let count = read(pipe.reader, &packet, packet.count), count > 0 {
            #expect(count <= 4_096 && packet[count - 1] == UInt8(ascii: "\n"))
            said += packet[..<count].split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(said == lines)
        Glibc.close(pipe.reader)
    }

    @Test func `last words end where nobody reads`() throws {
        let pipe = Pipe()
        let writer = LineWriter(descriptor: pipe.writer, capacity: 1 << 18)
        writer.stop()
        for _ in 0..<200 { writer.add([UInt8](repeating: 120, count: 999) + [UInt8(ascii: "\n")]) { _ in [] } }
        writer.writeLastWords()
        pipe.close()
    }

    @Test func `what was said is out when nobody can say anything any more`() throws {
        let pipe = Pipe()
        do {
            let logger = logger(pipe)
            for index in 0..<50 { logger.info("line", ["index": .public(index)]) }
        }
        #expect(try indices(pipe.readLinesAtOnce(), of: "line") == Array(0..<50))
        pipe.close()
    }

    @Test func `a reader that went away does no harm`() {
        let pipe = Pipe()
        let logger = logger(pipe)
        close(pipe.reader)
        logger.info("nobody reads this")
        logger.error("nor this")
        logger.flush()
        close(pipe.writer)
    }

    @Test func `a reader that stalls delays nobody for long and learns later what it missed`() throws {
        let pipe = Pipe()
        let logger = logger(pipe, capacity: 8_192)
        let filler = String(repeating: "x", count: 900)
        let start = ContinuousClock.now
        // A pipe holds 64 KiB.
        for index in 0..<200 { logger.info("line", ["index": .public(index), "filler": .public(filler)]) }
        #expect(ContinuousClock.now - start < .seconds(5))
        var lines = pipe.readLines()
        logger.error("afterwards")
        lines += pipe.readLines()
        let objects = try lines.map { try JSON.parse($0) }
        let held = objects.count { $0["message"]?.string == "line" }
        #expect(held < 200)
        #expect(objects.dropFirst(held).map { $0["message"]?.string } == ["log lines were lost", "afterwards"])
        #expect(objects.dropFirst(held).first?["count"]?.int64 == Int64(200 - held))
        pipe.close()
    }

    @Test func `whatever ends the process, everything that was said is out`() async throws {
        let exited = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let logger = Logger(service: "test")
            for index in 0..<100 { logger.info("line", ["index": .public(index)]) }
            exit(0)
        }
        #expect(try indices(lines(exited?.standardErrorContent), of: "line") == Array(0..<100))

        let trapped = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let logger = Logger(service: "test")
            for index in 0..<100 { logger.info("line", ["index": .public(index)]) }
            fatalError("as it must")
        }
        // Some perhaps twice.
        #expect(try Set(indices(lines(trapped?.standardErrorContent), of: "line")) == Set(0..<100))

        let trappedElsewhere = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let logger = Logger(service: "test")
            try await BlockingPool(name: "trap", threads: 1).run {
                for index in 0..<100 { logger.info("line", ["index": .public(index)]) }
                fatalError("as it must")
            }
        }
        #expect(try Set(indices(lines(trappedElsewhere?.standardErrorContent), of: "line")) == Set(0..<100))
    }

    /// Those that are lines of a log.
    private func lines(_ output: [UInt8]?) -> [[UInt8]] {
        (output ?? []).split(separator: UInt8(ascii: "\n")).map { Array($0) }.filter { $0.first == UInt8(ascii: "{") }
    }

    private struct PipeEnded: Error {}
}
