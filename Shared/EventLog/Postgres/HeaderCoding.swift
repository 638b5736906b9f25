import EventLog

/// The headers of a record as one `bytea`: a version byte, then for each header its name and its value. A name that nearly
/// every record has is one byte, its place in a table; any other is 0, its length and its UTF-8. Lengths are base-128
/// varints. Order and repetition are kept.
enum HeaderCoding {
    static let version: UInt8 = 1

    /// Places are for ever: a new name goes to the end, and none leaves.
    static let names = [
        "ce_specversion", "ce_id", "ce_type", "ce_source", "ce_time", "ce_subject", "content-type", "ce_sequence", "ce_previous",
        "ce_inboxes", "ce_writer", "ce_speculation", "ce_refused", "ce_causationid", "ce_correlationid", "ce_traceparent",
        "ce_replyto",
        "ce_deadline", "ce_budget", "ce_remember", "ce_client", "ce_mackeyid", "ce_mac", "traceparent", "ce_dataschema",
    ]
    private static let places = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, UInt8($0 + 1)) })

    static func encode(_ headers: [Header]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(headers.reduce(1) { $0 + 4 + $1.value.count })
        bytes.append(version)
        for header in headers {
            if let place = places[header.name] {
                bytes.append(place)
            } else {
                bytes.append(0)
                append(header.name.utf8.count, to: &bytes)
                bytes += header.name.utf8
            }
            append(header.value.count, to: &bytes)
            bytes += header.value
        }
        return bytes
    }

    /// `nil` if these are no such bytes.
    static func decode(_ bytes: UnsafeRawBufferPointer) -> [Header]? {
        guard bytes.first == version else { return nil }
        var reader = Reader(bytes: bytes, place: 1)
        var headers: [Header] = []
        headers.reserveCapacity(16)
        while reader.place < bytes.count {
            guard let name = reader.name(), let value = reader.chunk() else { return nil }
            headers.append(Header(name, Array(value)))
        }
        return headers
    }

    private static func append(_ length: Int, to bytes: inout [UInt8]) {
        var rest = length
        while rest >= 0x80 {
            bytes.append(UInt8(rest & 0x7f) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    private struct Reader {
        let bytes: UnsafeRawBufferPointer
        var place: Int

        mutating func name() -> String? {
            let code = Int(bytes[place])
            place += 1
            guard code == 0 else { return code <= HeaderCoding.names.count ? HeaderCoding.names[code - 1] : nil }
            return chunk().map { String(decoding: $0, as: UTF8.self) }
        }

        mutating func chunk() -> UnsafeRawBufferPointer? {
            guard let length = length(), length <= bytes.count - place else { return nil }
            defer { place += length }
            return UnsafeRawBufferPointer(rebasing: bytes[place..<place + length])
        }

        private mutating func length() -> Int? {
            var value = 0
            for shift in stride(from: 0, to: 35, by: 7) {
                guard place < bytes.count else { return nil }
                let byte = bytes[place]
                place += 1
                value |= Int(byte & 0x7f) << shift
                if byte < 0x80 { return value }
            }
            return nil
        }
    }
}
