import JSON
import Runtime
import Testing

@Suite struct LoggerTests {
    private let recorder = LogRecorder()

    private func logger(_ level: LogLevel = .debug) -> Logger {
        Logger(service: "gateway", level: level, sink: recorder) { 1_767_225_599_007 }
    }

    private func json(_ line: [UInt8]) throws -> JSON {
        #expect(line.last == UInt8(ascii: "\n"))
        return try JSON.parse(Array(line.dropLast()))
    }

    @Test func `a line is one JSON object with time, level, service and message first`() {
        logger().info("listening", ["port": .public(3001), "tls": false, "ratio": 0.5, "host": "localhost"])
        #expect(
            recorder.text
                == #"{"time":"2025-12-31T23:59:59.007Z","level":"info","service":"gateway","message":"listening","#
                + #""port":3001,"tls":false,"ratio":0.5,"host":"localhost"}"# + "\n")
    }

    @Test func `lines below the level are not written`() {
        let logger = logger(.warning)
        logger.debug("a")
        logger.info("b")
        logger.notice("c")
        logger.warning("d")
        logger.error("e")
        #expect(recorder.entries.map(\.message) == ["d", "e"])
    }

    @Test func `fields of a copy stand before those of the line, and the trace beside them`() throws {
        let trace = TraceContext.random()
        logger().with(["request": "r1"]).with(trace).info("done", ["status": 200])
        let line = try json(#require(recorder.entries.first).line())
        #expect(line["traceId"]?.string == trace.traceID)
        #expect(recorder.entries[0].fields.map(\.name) == ["request", "status"])
    }

    @Test func `secrets print as stars and masked values as outlines`() {
        let address = "jane.doe@mail.example.com"
        logger().info("sent", ["code": .secret("123456"), "to": .masked(address), "from": .masked("192.0.2.17")])
        #expect(recorder.text.contains(#""code":"***","to":"j***@***.com","from":"192.0.***""#))
        #expect(!recorder.text.contains("123456"))
        #expect(!recorder.text.contains("jane.doe"))
    }

    @Test func `quotes, controls and line ends cannot break out of a field`() throws {
        let text = "a\"b\\c\nd\u{0}e\u{85}f\u{2028}g\u{1b}[31mü😀"
        logger().info("x", ["value": .public(text)])
        let bytes = try #require(recorder.entries.first).line()
        #expect(bytes.count { $0 == UInt8(ascii: "\n") } == 1)
        #expect(!bytes.contains { $0 < 0x20 && $0 != UInt8(ascii: "\n") })
        #expect(try json(bytes)["value"]?.string == text)
        #expect(!recorder.text.unicodeScalars.contains("\u{2028}"))
    }

    @Test func `a line never exceeds what a pipe takes in one piece`() throws {
        let long = String(repeating: "\u{1}", count: 5_000)
        logger().info("x", ["a": .public(long), "b": .public(long), "c": .public(long), "d": .public(long), "e": 1])
        let bytes = try #require(recorder.entries.first).line()
        #expect(bytes.count <= 4_096)
        let line = try json(bytes)
        #expect(line["truncated"]?.bool == true)
        #expect(line["a"]?.string?.hasSuffix("…") == true)
        #expect(line["e"] == nil)
    }

    @Test func `a field cannot take the place of another one`() throws {
        logger().with(["a": 1]).info("x", ["a": 2, "level": "fatal"])
        let line = try json(#require(recorder.entries.first).line())
        #expect(line["a"]?.int64 == 1)
        #expect(line["a_2"]?.int64 == 2)
        #expect(line["level"]?.string == "info")
        #expect(line["level_2"]?.string == "fatal")
    }

    @Test func `numbers that JSON does not have are texts`() throws {
        logger().info("x", ["a": .public(Double.nan), "b": .public(-Double.infinity), "c": .public(Duration.milliseconds(1.5))])
        let line = try json(#require(recorder.entries.first).line())
        #expect(line["a"]?.string == "nan")
        #expect(line["b"]?.string == "-inf")
        #expect(line["c"] == .number(1.5))
    }
}
