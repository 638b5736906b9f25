internal import EventSchema
internal import JSON

/// Which messages stand in a part of an outbox: the ids of its lines, from some line on to the end of what was read.
struct OutboxIndex: Sendable {
    struct Line: Equatable, Sendable {
        /// Where it begins in the file.
        var offset: Int64
        var time: Timestamp
        var id: MessageID
    }

    /// The part of the file that is known, from the beginning of a line to the end of one.
    private(set) var known: Range<Int64>
    /// In the order of the file, without lines that are no deliveries.
    private var lines: [Line] = []
    private var ids: Set<MessageID> = []

    /// Knows nothing of a file that ends here.
    init(end: Int64) { known = end..<end }

    var count: Int { lines.count }

    func contains(_ id: MessageID) -> Bool { ids.contains(id) }

    /// Whether lines from before `time` are known, or there are none.
    func reaches(back time: Timestamp) -> Bool { known.lowerBound == 0 || (lines.first.map { $0.time < time } ?? false) }

    /// Adds what stands behind the known part: whole lines.
    mutating func append(_ bytes: ArraySlice<UInt8>) {
        let more = Self.lines(in: bytes, at: known.upperBound)
        lines += more
        ids.formUnion(more.map(\.id))
        known = known.lowerBound..<known.upperBound + Int64(bytes.count)
    }

    /// Adds what stands before the known part: whole lines.
    mutating func prepend(_ bytes: ArraySlice<UInt8>) {
        let begin = known.lowerBound - Int64(bytes.count)
        let more = Self.lines(in: bytes, at: begin)
        lines = more + lines
        ids.formUnion(more.map(\.id))
        known = begin..<known.upperBound
    }

    /// Forgets lines from before `time`, all but the last one, once they are the greater part.
    mutating func forget(before time: Timestamp) {
        guard lines.count > Self.keptLines, lines[lines.count / 2].time < time else { return }
        guard let first = lines.firstIndex(where: { $0.time >= time }), first > 0 else { return }
        lines.removeFirst(first - 1)
        ids = Set(lines.map(\.id))
        known = lines[0].offset..<known.upperBound
    }

    private static let keptLines = 1_024

    /// What is no delivery (a line that was torn by a crash) is passed over.
    private static func lines(in bytes: ArraySlice<UInt8>, at offset: Int64) -> [Line] {
        var lines: [Line] = []
        var start = bytes.startIndex
        while start < bytes.endIndex {
            let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex
            if let json = try? JSON.parse(Array(bytes[start..<end])), let id = json["id"]?.string.flatMap(MessageID.init),
                let time = json["time"]?.string.flatMap(Timestamp.init(rfc3339:))
            {
                lines.append(Line(offset: offset + Int64(start - bytes.startIndex), time: time, id: id))
            }
            start = end < bytes.endIndex ? end + 1 : end
        }
        return lines
    }
}
