/// W3C Trace Context, level 1: which trace a piece of work belongs to, and which span started it.
public struct TraceContext: Hashable, Sendable {
    /// 16 bytes as 32 lower-case hexadecimal digits, not all zero.
    public let traceID: String
    /// 8 bytes as 16 lower-case hexadecimal digits, not all zero.
    public let spanID: String
    /// Bit 0: somebody upstream records this trace. The other bits have no meaning yet and are not passed on.
    public let isSampled: Bool

    private init(traceID: String, spanID: String, isSampled: Bool) {
        self.traceID = traceID
        self.spanID = spanID
        self.isSampled = isSampled
    }

    /// Starts a trace.
    public static func random(isSampled: Bool = false) -> TraceContext {
        TraceContext(traceID: WorkID.hexadecimal(words: 2), spanID: WorkID.hexadecimal(), isSampled: isSampled)
    }

    /// A new span of the same trace.
    public func child() -> TraceContext {
        TraceContext(traceID: traceID, spanID: WorkID.hexadecimal(), isSampled: isSampled)
    }

    /// Reads a `traceparent` header. `nil` for anything that the specification calls invalid: the receiver then starts a
    /// trace of its own. Later versions are read as far as version 00 goes, as the specification asks.
    public init?(traceparent: String) {
        let bytes = Array(traceparent.utf8)
        guard bytes.count >= 55, bytes[2] == Self.dash, bytes[35] == Self.dash, bytes[52] == Self.dash else { return nil }
        let version = bytes[0..<2]
        let trace = bytes[3..<35]
        let span = bytes[36..<52]
        let flags = bytes[53..<55]
        guard [version, trace, span, flags].allSatisfy({ $0.allSatisfy(Self.isLowerHex) }) else { return nil }
        guard !version.elementsEqual("ff".utf8), trace.contains(where: { $0 != Self.zero }),
            span.contains(where: { $0 != Self.zero })
        else { return nil }
        if version.elementsEqual("00".utf8) {
            guard bytes.count == 55 else { return nil }
        } else {
            guard bytes.count == 55 || bytes[55] == Self.dash else { return nil }
        }
        traceID = String(decoding: trace, as: UTF8.self)
        spanID = String(decoding: span, as: UTF8.self)
        isSampled = bytes[54].isOddHexDigit
    }

    /// The `traceparent` header of version 00.
    public var traceparent: String { "00-\(traceID)-\(spanID)-\(isSampled ? "01" : "00")" }

    private static let dash = UInt8(ascii: "-")
    private static let zero = UInt8(ascii: "0")

    private static func isLowerHex(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }
}

extension UInt8 {
    /// For a lower-case hexadecimal digit: whether its lowest bit is set.
    fileprivate var isOddHexDigit: Bool { self <= UInt8(ascii: "9") ? self & 1 == 1 : self & 1 == 0 }
}
