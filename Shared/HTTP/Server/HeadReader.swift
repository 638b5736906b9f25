import CMicroHTTPD

/// Reads the head of a request out of the library's buffer, strictly.
///
/// libmicrohttpd 0.9.75 is lenient: it takes a bare LF for a line end, joins folded lines, and leaves spaces, control
/// characters and NUL in names and values. What a proxy in front may have understood differently has to be refused, so this
/// walks the buffer itself: the library parses in place and overwrites only delimiters, the colon with one NUL, CRLF with
/// two and a bare LF with one. If every name and value stands exactly where the one before it ends, then the head was made
/// of `name ":" value CRLF` lines and nothing else. (One thing looks the same: a NUL right before a bare LF. Its reading as
/// a line end is the only one there is.)
struct HeadReader {
    private(set) var headers = Headers()
    private(set) var isWellFormed = true
    /// Where the next line has to begin.
    private var position: UnsafePointer<CChar>
    /// Behind the empty line.
    private let end: UnsafePointer<CChar>

    /// - Parameters:
    ///   - target: where the request target stood.
    ///   - targetLength: its length before the library decoded it.
    init(
        method: UnsafePointer<CChar>, methodLength: Int, target: UnsafePointer<CChar>, targetLength: Int,
        version: UnsafePointer<CChar>, size: Int
    ) {
        end = method + size
        position = version + 8
        guard target == method + methodLength + 1, version == target + targetLength + 1, position + 4 <= end, endsLine() else {
            isWellFormed = false
            return
        }
        headers.reserveCapacity(8)
    }

    /// Moves behind the end of a line; `false` if there is none.
    private mutating func endsLine() -> Bool {
        guard position + 2 <= end, position[0] == 0, position[1] == 0 else { return false }
        position += 2
        return true
    }

    /// Takes one header field in the order of the buffer.
    mutating func take(_ name: UnsafePointer<CChar>, _ nameLength: Int, _ value: UnsafePointer<CChar>?, _ valueLength: Int) {
        guard isWellFormed else { return }
        isWellFormed = false
        guard name == position, nameLength > 0, name + nameLength < end, let value, value > name + nameLength,
            value + valueLength < end
        else { return }
        let nameBytes = UnsafeRawBufferPointer(start: name, count: nameLength)
        guard nameBytes.allSatisfy(isTokenByte) else { return }
        // The colon, then only blanks up to the value.
        var blank = name + nameLength + 1
        while blank < value {
            guard blank.pointee == 0x20 || blank.pointee == 0x09 else { return }
            blank += 1
        }
        let raw = UnsafeRawBufferPointer(start: value, count: valueLength)
        guard raw.allSatisfy({ $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }) else { return }
        position = value + valueLength
        guard endsLine() else { return }

        var trimmedLength = valueLength
        while trimmedLength > 0, raw[trimmedLength - 1] == 0x20 || raw[trimmedLength - 1] == 0x09 { trimmedLength -= 1 }
        let field = Headers.Field(
            name: String(decoding: nameBytes, as: UTF8.self),
            value: String(decoding: UnsafeRawBufferPointer(rebasing: raw[..<trimmedLength]), as: UTF8.self))
        // The library frames the body by the untrimmed value.
        if trimmedLength != valueLength,
            Headers.same(field.name, "Transfer-Encoding") || Headers.same(field.name, "Content-Length")
        {
            return
        }
        headers.append(field.name, field.value)
        isWellFormed = true
    }

    /// To be called behind the last field.
    mutating func finish() {
        if isWellFormed { isWellFormed = endsLine() && position == end }
    }
}
