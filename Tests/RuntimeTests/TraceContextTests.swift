import Runtime
import Testing

@Suite struct TraceContextTests {
    private static let valid = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    @Test func `a valid header is read and written back`() throws {
        let trace = try #require(TraceContext(traceparent: Self.valid))
        #expect(trace.traceID == "0af7651916cd43dd8448eb211c80319c")
        #expect(trace.spanID == "b7ad6b7169203331")
        #expect(trace.isSampled)
        #expect(trace.traceparent == Self.valid)
    }

    @Test(arguments: [("00", false), ("01", true), ("02", false), ("0a", false), ("0b", true), ("ff", true)])
    func `only the lowest flag counts`(flags: String, isSampled: Bool) {
        #expect(TraceContext(traceparent: Self.valid.dropLast(2) + flags)?.isSampled == isSampled)
    }

    @Test(arguments: [
        "",
        "00",
        "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
        "00_0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331_01",
        "00-0af7651916cd43dd8448eb211c80319g-b7ad6b7169203331-01",
        " 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "0x-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01x",
    ])
    func `an invalid header is not read`(header: String) {
        #expect(TraceContext(traceparent: header) == nil)
    }

    @Test(arguments: ["", "-", "-what-ever-comes"])
    func `a later version is read as far as it is known`(more: String) {
        let header = "cc" + Self.valid.dropFirst(2) + more
        #expect(TraceContext(traceparent: header)?.traceparent == Self.valid)
    }

    @Test func `a child is another span of the same trace`() throws {
        let parent = TraceContext.random(isSampled: true)
        let child = parent.child()
        #expect(child.traceID == parent.traceID)
        #expect(child.spanID != parent.spanID)
        #expect(child.isSampled)
        #expect(TraceContext(traceparent: child.traceparent) == child)
        #expect(TraceContext.random().traceID != parent.traceID)
    }
}
