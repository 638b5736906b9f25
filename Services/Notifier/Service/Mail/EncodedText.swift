/// Text of any script in ASCII, as mail carries it.
enum EncodedText {
    private static let digits = Array("0123456789ABCDEF".utf8)

    private static func escaped(_ byte: UInt8) -> [UInt8] {
        [UInt8(ascii: "="), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }

    /// RFC 2045, section 6.7. Lines of at most 76 bytes, separated by CR LF, from lines separated by LF.
    static func quotedPrintable(_ text: String) -> String {
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        return String(
            decoding: Array(lines.map { quotedPrintable(line: Array($0)) }.joined(separator: Array("\r\n".utf8))), as: UTF8.self)
    }

    private static func quotedPrintable(line: [UInt8]) -> [UInt8] {
        var encoded: [UInt8] = []
        var length = 0
        for (index, byte) in line.enumerated() {
            // Space at the end of a line gets lost on the way.
            let isPlain = 0x21...0x7e ~= byte && byte != UInt8(ascii: "=") || isSpace(byte) && index < line.count - 1
            var piece = isPlain ? [byte] : escaped(byte)
            // 76, less the sign that the line goes on.
            if length + piece.count > 75 {
                encoded += Array("=\r\n".utf8)
                length = 0
            }
            // A dot at the beginning of a line means something to mail servers.
            if length == 0, byte == UInt8(ascii: ".") { piece = escaped(byte) }
            encoded += piece
            length += piece.count
        }
        return encoded
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    /// Unstructured text of a header field: as it is where that is possible, otherwise encoded words (RFC 2047), folded.
    ///
    /// - Parameter after: how long the line is before it.
    static func header(_ text: String, after used: Int) -> String {
        let isPlain = text.utf8.allSatisfy { 0x20...0x7e ~= $0 } && !text.contains("=?") && used + text.utf8.count <= 78
        if isPlain { return text }
        let start = Array("=?UTF-8?Q?".utf8)
        var words: [[UInt8]] = [start]
        // RFC 2047, section 2: a word has at most 75 bytes, a line 76.
        var room = min(76 - used, 75)
        for scalar in text.unicodeScalars {
            // A word holds whole characters.
            let piece = String(scalar).utf8.flatMap { byte -> [UInt8] in
                switch byte {
                case UInt8(ascii: " "): [UInt8(ascii: "_")]
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"):
                    [byte]
                default: escaped(byte)
                }
            }
            if words[words.count - 1].count + piece.count + 2 > room {
                words.append(start)
                room = 75
            }
            words[words.count - 1] += piece
        }
        return words.map { String(decoding: $0, as: UTF8.self) + "?=" }.joined(separator: "\r\n ")
    }
}
