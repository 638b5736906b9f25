/// One line of the log before it becomes bytes.
public struct LogEntry: Sendable, Equatable {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    public var time: Int64
    public var level: LogLevel
    public var service: String
    public var message: String
    public var fields: [(name: String, value: LogValue)]
    public var traceID: String?

    public static func == (left: LogEntry, right: LogEntry) -> Bool {
        left.time == right.time && left.level == right.level && left.service == right.service && left.message == right.message
            && left.traceID == right.traceID
            && left.fields.elementsEqual(right.fields, by: { $0.name == $1.name && $0.value == $1.value })
    }

    /// The value of the last field with this name.
    public subscript(_ name: String) -> LogValue? { fields.last { $0.name == name }?.value }

    /// What a pipe takes in one piece (`PIPE_BUF` of Linux): lines of several threads and processes never mix.
    static let byteLimit = 4_096
    /// What one text may take of a line.
    static let textLimit = 1_024

    /// One JSON object and a line feed, at most 4,096 bytes: long texts are cut, and fields past the limit left out, both
    /// with `"truncated":true`.
    public func line() -> [UInt8] {
        var line = LineBuilder()
        line.append(#"{"time":""#)
        WallClock.append(rfc3339: time, to: &line.bytes)
        line.append(#"","level":""#)
        line.append(level.rawValue)
        line.append(#"","service":"#)
        line.append(quoted: service)
        line.append(#","message":"#)
        line.append(quoted: message)
        if let traceID {
            line.append(#","traceId":"#)
            line.append(quoted: traceID)
        }
        // Almost always no two fields have one name, and there are too few of them to hash.
        let isDistinct = namesAreDistinct
        var names: Set<String> = isDistinct ? [] : Set(Self.ownNames)
        for (name, value) in fields {
            let kept = line.bytes.count
            line.append(",")
            line.append(quoted: isDistinct || names.insert(name).inserted ? name : uniqueName(name, among: &names))
            line.append(":")
            line.append(value)
            if line.bytes.count > Self.byteLimit - 64 {
                line.bytes.removeSubrange(kept...)
                line.truncated = true
                break
            }
        }
        if line.truncated { line.append(#","truncated":true"#) }
        line.append("}\n")
        return line.bytes
    }

    private static let ownNames = ["time", "level", "service", "message", "traceId", "truncated"]

    private var namesAreDistinct: Bool {
        for index in fields.indices {
            if Self.ownNames.contains(fields[index].name) { return false }
            for earlier in fields[..<index] where earlier.name == fields[index].name { return false }
        }
        return true
    }

    /// JSON readers disagree on doubled names, so there are none.
    private func uniqueName(_ name: String, among names: inout Set<String>) -> String {
        var number = 2
        while !names.insert("\(name)_\(number)").inserted { number += 1 }
        return "\(name)_\(number)"
    }
}

private struct LineBuilder {
    var bytes: [UInt8] = []
    var truncated = false

    init() { bytes.reserveCapacity(512) }

    mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }

    /// Texts that stand for themselves, as most do. `false`, and nothing is appended, for others.
    private mutating func appendPlain(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard text.count <= LogEntry.textLimit else { return false }
        for byte in text {
            guard byte >= 0x20, byte < 0x7f, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") else { return false }
        }
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: text)
        bytes.append(UInt8(ascii: "\""))
        return true
    }

    mutating func append(_ value: LogValue) {
        switch value {
        case .text(let text), .outline(let text): append(quoted: text)
        case .integer(let integer): bytes.append(decimal: integer)
        case .number(let number): append(number.isFinite ? "\(number)" : #""\#(number)""#)
        case .flag(let flag): append(flag ? "true" : "false")
        case .secret: append(#""***""#)
        }
    }

    mutating func append(quoted text: String) {
        var text = text
        if text.withUTF8({ appendPlain($0) }) { return }
        bytes.append(UInt8(ascii: "\""))
        var room = LogEntry.textLimit
        for scalar in text.unicodeScalars {
            let start = bytes.count
            switch scalar {
            case "\"": append("\\\"")
            case "\\": append("\\\\")
            case "\n": append("\\n")
            case "\r": append("\\r")
            case "\t": append("\\t")
            // C1 controls and the line separators are legal in JSON, but terminals and line readers act on them.
            case "\0"..."\u{1f}", "\u{7f}"..."\u{9f}", "\u{2028}", "\u{2029}":
                let hex = String(scalar.value, radix: 16)
                append("\\u" + String(repeating: "0", count: 4 - hex.count) + hex)
            default: bytes.append(contentsOf: String(scalar).utf8)
            }
            room -= bytes.count - start
            if room < 0 {
                bytes.removeSubrange(start...)
                append("…")
                truncated = true
                break
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
