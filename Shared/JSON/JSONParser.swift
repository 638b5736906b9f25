/// Reads one text from front to back. The bytes are looked at where they are; only strings and numbers are copied out.
struct JSONParser {
    private let bytes: [UInt8]
    private var index = 0
    private var depth = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func document() throws(JSONError) -> JSON {
        let value = try value()
        skipWhitespace()
        guard index == bytes.count else { throw JSONError(.trailingBytes, at: index) }
        return value
    }

    // MARK: Values

    private mutating func value() throws(JSONError) -> JSON {
        skipWhitespace()
        guard let byte = peek else { throw JSONError(.unexpectedEnd, at: index) }
        switch byte {
        case UInt8(ascii: "{"): return .object(try object())
        case UInt8(ascii: "["): return .array(try array())
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        case UInt8(ascii: "t"):
            try literal("true")
            return .bool(true)
        case UInt8(ascii: "f"):
            try literal("false")
            return .bool(false)
        case UInt8(ascii: "n"):
            try literal("null")
            return .null
        default: throw JSONError(.unexpectedByte, at: index)
        }
    }

    private mutating func object() throws(JSONError) -> JSONObject {
        try enter()
        skipWhitespace()
        if take(UInt8(ascii: "}")) {
            depth -= 1
            return JSONObject()
        }
        // Small ones are many, and lie in others.
        var object = JSONObject(capacity: depth == 1 ? 8 : 2)
        while true {
            skipWhitespace()
            let start = index
            guard peek == UInt8(ascii: "\"") else { throw unexpected() }
            let name = try string()
            skipWhitespace()
            guard take(UInt8(ascii: ":")) else { throw unexpected() }
            guard object.append(try value(), for: name) else { throw JSONError(.duplicateKey, at: start) }
            skipWhitespace()
            if take(UInt8(ascii: ",")) { continue }
            guard take(UInt8(ascii: "}")) else { throw unexpected() }
            depth -= 1
            return object
        }
    }

    private mutating func array() throws(JSONError) -> [JSON] {
        try enter()
        var array: [JSON] = []
        skipWhitespace()
        if take(UInt8(ascii: "]")) {
            depth -= 1
            return array
        }
        while true {
            array.append(try value())
            skipWhitespace()
            if take(UInt8(ascii: ",")) { continue }
            guard take(UInt8(ascii: "]")) else { throw unexpected() }
            depth -= 1
            return array
        }
    }

    private mutating func enter() throws(JSONError) {
        guard depth < JSON.maximumDepth else { throw JSONError(.tooDeep, at: index) }
        depth += 1
        index += 1
    }

    private mutating func literal(_ word: StaticString) throws(JSONError) {
        for offset in 0..<word.utf8CodeUnitCount {
            guard take(word.utf8Start[offset]) else { throw unexpected() }
        }
    }

    // MARK: Numbers

    private mutating func number() throws(JSONError) -> JSON {
        let start = index
        let isNegative = take(UInt8(ascii: "-"))
        // Counted downwards: the smallest `Int64` has no positive counterpart.
        var magnitude: Int64 = 0
        var fits = true
        let digits = try self.digits { digit in
            let (tens, overflow) = magnitude.multipliedReportingOverflow(by: 10)
            let (sum, carry) = tens.subtractingReportingOverflow(Int64(digit))
            magnitude = sum
            if overflow || carry { fits = false }
        }
        guard digits.count == 1 || bytes[digits.lowerBound] != UInt8(ascii: "0") else {
            throw JSONError(.malformedNumber, at: digits.lowerBound)
        }
        var isWhole = true
        if take(UInt8(ascii: ".")) {
            isWhole = false
            _ = try self.digits { _ in }
        }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            isWhole = false
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            _ = try self.digits { _ in }
        }
        // Minus zero is not an integer, and its sign is kept.
        if isWhole, fits, !(isNegative && magnitude == 0) {
            if isNegative { return .integer(magnitude) }
            if magnitude != .min { return .integer(-magnitude) }
        }
        guard let number = Double(String(decoding: bytes[start..<index], as: UTF8.self)), number.isFinite else {
            throw JSONError(.numberOutOfRange, at: start)
        }
        return .number(number)
    }

    /// At least one digit.
    private mutating func digits(_ each: (UInt8) -> Void) throws(JSONError) -> Range<Int> {
        let start = index
        while let byte = peek, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
            each(byte - UInt8(ascii: "0"))
            index += 1
        }
        guard index > start else { throw index == bytes.count ? unexpected() : JSONError(.malformedNumber, at: index) }
        return start..<index
    }

    // MARK: Strings

    private mutating func string() throws(JSONError) -> String {
        index += 1
        let start = index
        let isASCII = skipPlainText()
        guard let byte = peek else { throw JSONError(.unexpectedEnd, at: index) }
        switch byte {
        case UInt8(ascii: "\""):
            let string = isASCII ? String(decoding: bytes[start..<index], as: UTF8.self) : try text(from: start)
            index += 1
            return string
        case UInt8(ascii: "\\"): return try escapedString(from: start)
        default: throw JSONError(.controlCharacter, at: index)
        }
    }

    /// Goes on to what ends a string, or must not stand in one as it is, and says whether all before it is ASCII.
    private mutating func skipPlainText() -> Bool {
        var high: UInt8 = 0
        index = bytes.withUnsafeBufferPointer { bytes in
            var index = index
            // Eight at a time: most of what is read is text.
            while index + 8 <= bytes.count {
                let word = UnsafeRawPointer(bytes.baseAddress! + index).loadUnaligned(as: UInt64.self)
                guard word.isPlainASCII else { break }
                index += 8
            }
            while index < bytes.count {
                let byte = bytes[index]
                if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { break }
                high |= byte
                index += 1
            }
            return index
        }
        return high < 0x80
    }

    /// The rest of a string whose first escape stands at `index`.
    private mutating func escapedString(from start: Int) throws(JSONError) -> String {
        var decoded = Array(bytes[start..<index])
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""):
                // Escapes are ASCII and stand for whole characters: what was valid before decoding is valid after it.
                try _ = text(from: start)
                index += 1
                return String(decoding: decoded, as: UTF8.self)
            case UInt8(ascii: "\\"): try escape(into: &decoded)
            case 0..<0x20: throw JSONError(.controlCharacter, at: index)
            default:
                decoded.append(byte)
                index += 1
            }
        }
        throw JSONError(.unexpectedEnd, at: index)
    }

    private mutating func escape(into decoded: inout [UInt8]) throws(JSONError) {
        let start = index
        index += 1
        guard let byte = peek else { throw JSONError(.unexpectedEnd, at: index) }
        index += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): decoded.append(byte)
        case UInt8(ascii: "b"): decoded.append(0x08)
        case UInt8(ascii: "f"): decoded.append(0x0c)
        case UInt8(ascii: "n"): decoded.append(0x0a)
        case UInt8(ascii: "r"): decoded.append(0x0d)
        case UInt8(ascii: "t"): decoded.append(0x09)
        case UInt8(ascii: "u"):
            let unit = try codeUnit()
            var value = UInt32(unit)
            if UTF16.isLeadSurrogate(unit) {
                guard take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else { throw JSONError(.loneSurrogate, at: start) }
                let trail = try codeUnit()
                guard UTF16.isTrailSurrogate(trail) else { throw JSONError(.loneSurrogate, at: start) }
                value = 0x1_0000 + (value - 0xd800) << 10 + (UInt32(trail) - 0xdc00)
            }
            guard let scalar = Unicode.Scalar(value) else { throw JSONError(.loneSurrogate, at: start) }
            decoded.append(contentsOf: UTF8.encode(scalar)!)
        default: throw JSONError(.malformedEscape, at: start)
        }
    }

    /// Four hexadecimal digits.
    private mutating func codeUnit() throws(JSONError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = peek else { throw JSONError(.unexpectedEnd, at: index) }
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
            default: throw JSONError(.malformedEscape, at: index)
            }
            unit = unit << 4 | UInt16(digit)
            index += 1
        }
        return unit
    }

    /// The bytes from `start` up to `index`, which must be UTF-8.
    private func text(from start: Int) throws(JSONError) -> String {
        do throws(UTF8.ValidationError) {
            return String(copying: try UTF8Span(validating: bytes.span.extracting(start..<index)))
        } catch {
            throw JSONError(.invalidUTF8, at: start + error.byteOffsets.lowerBound)
        }
    }

    // MARK: Bytes

    private var peek: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard peek == byte else { return false }
        index += 1
        return true
    }

    private mutating func skipWhitespace() {
        while let byte = peek, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 { index += 1 }
    }

    private func unexpected() -> JSONError {
        JSONError(index == bytes.count ? .unexpectedEnd : .unexpectedByte, at: index)
    }
}

extension UInt64 {
    /// Whether none of the eight bytes is a quotation mark, a backslash, a control character, or outside of ASCII.
    fileprivate var isPlainASCII: Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let tops = ones &* 0x80
        /// The top bits of bytes that are less than `limit`, if no byte has its own; beyond the first of them it may say too
        /// much.
        func less(_ word: UInt64, than limit: UInt64) -> UInt64 { (word &- ones &* limit) & ~word & tops }
        let found = less(self, than: 0x20) | less(self ^ ones &* 0x22, than: 1) | less(self ^ ones &* 0x5c, than: 1)
        return (found | self) & tops == 0
    }
}
