import JSON
import Testing

@Suite struct RefusedTexts {
    @Test(arguments: [
        ("", 0, JSONError.Reason.unexpectedEnd), (" \n", 2, .unexpectedEnd), ("[", 1, .unexpectedEnd), ("[1", 2, .unexpectedEnd),
        ("[1,", 3, .unexpectedEnd), ("{", 1, .unexpectedEnd), ("{\"a\"", 4, .unexpectedEnd), ("{\"a\":", 5, .unexpectedEnd),
        ("{\"a\":1,", 7, .unexpectedEnd), ("tru", 3, .unexpectedEnd), ("\"abc", 4, .unexpectedEnd),
        ("\"abc\\", 5, .unexpectedEnd),
        ("\"\\u12", 5, .unexpectedEnd), ("-", 1, .unexpectedEnd), ("1.", 2, .unexpectedEnd), ("1e", 2, .unexpectedEnd),
        ("1e+", 3, .unexpectedEnd), ("\"\\n", 3, .unexpectedEnd),
    ])
    func `texts that end too early`(text: String, offset: Int, reason: JSONError.Reason) {
        expect(text, reason, at: offset)
    }

    @Test(arguments: [
        ("[1,]", 3, JSONError.Reason.unexpectedByte), ("[,1]", 1, .unexpectedByte), ("[1 2]", 3, .unexpectedByte),
        ("[1,,2]", 3, .unexpectedByte), ("{\"a\":1,}", 7, .unexpectedByte), ("{a:1}", 1, .unexpectedByte),
        ("{1:1}", 1, .unexpectedByte), ("{\"a\" 1}", 5, .unexpectedByte), ("{\"a\":}", 5, .unexpectedByte),
        ("{\"a\":1 \"b\":2}", 7, .unexpectedByte), ("{,}", 1, .unexpectedByte), ("[}", 1, .unexpectedByte),
        ("{]", 1, .unexpectedByte), ("[1}", 2, .unexpectedByte), ("'a'", 0, .unexpectedByte), ("True", 0, .unexpectedByte),
        ("nul1", 3, .unexpectedByte), ("NaN", 0, .unexpectedByte), ("Infinity", 0, .unexpectedByte), ("+1", 0, .unexpectedByte),
        (".5", 0, .unexpectedByte), ("// x\n1", 0, .unexpectedByte), ("[1/**/]", 2, .unexpectedByte),
        ("\u{feff}1", 0, .unexpectedByte), ("\u{a0}1", 0, .unexpectedByte), ("\u{c}1", 0, .unexpectedByte),
        ("\u{0}1", 0, .unexpectedByte), ("1 2", 2, .trailingBytes), ("{}x", 2, .trailingBytes), ("[]]", 2, .trailingBytes),
        ("null\u{0}", 4, .trailingBytes), ("\"a\"\"b\"", 3, .trailingBytes), ("1,", 1, .trailingBytes),
        ("truee", 4, .trailingBytes),
    ])
    func `bytes that cannot stand where they stand`(text: String, offset: Int, reason: JSONError.Reason) {
        expect(text, reason, at: offset)
    }

    @Test(arguments: [
        ("01", 0, JSONError.Reason.malformedNumber), ("-01", 1, .malformedNumber), ("00", 0, .malformedNumber),
        ("-a", 1, .malformedNumber), ("--1", 1, .malformedNumber), ("1.e5", 2, .malformedNumber), ("1.x", 2, .malformedNumber),
        ("1ex", 2, .malformedNumber), ("[1e+]", 4, .malformedNumber), ("[-]", 2, .malformedNumber), ("1+1", 1, .trailingBytes),
        ("0x10", 1, .trailingBytes), ("1_000", 1, .trailingBytes), ("1e5.5", 3, .trailingBytes), ("1.2.3", 3, .trailingBytes),
        ("[-Infinity]", 2, .malformedNumber), ("1e309", 0, .numberOutOfRange), ("[-1e400]", 1, .numberOutOfRange),
        ("1.8e308", 0, .numberOutOfRange),
    ])
    func `numbers in other forms, and those beyond every Double`(text: String, offset: Int, reason: JSONError.Reason) {
        expect(text, reason, at: offset)
    }

    @Test func `a number of very many digits`() {
        expect(String(repeating: "9", count: 60_000), .numberOutOfRange, at: 0)
    }

    @Test(arguments: [
        (#""\x""#, 1, JSONError.Reason.malformedEscape), (#""\U0041""#, 1, .malformedEscape), (#""\'""#, 1, .malformedEscape),
        (#""a\0""#, 2, .malformedEscape), (#""\u00g0""#, 5, .malformedEscape), (#""\u 041""#, 3, .malformedEscape),
        (#""\u+041""#, 3, .malformedEscape), (#""\u""#, 3, .malformedEscape), (#""\ud800""#, 1, .loneSurrogate),
        (#""x\udc00""#, 2, .loneSurrogate), (#""\ud800\ud800""#, 1, .loneSurrogate), (#""\ud800\u0041""#, 1, .loneSurrogate),
        (#""\ud800x""#, 1, .loneSurrogate), (#""\ud800\n""#, 1, .loneSurrogate), (#""\udc00\ud800""#, 1, .loneSurrogate),
        ("\"a\nb\"", 2, .controlCharacter), ("\"\t\"", 1, .controlCharacter), ("\"\u{0}\"", 1, .controlCharacter),
        ("\"\u{1f}\"", 1, .controlCharacter), ("\"\\n\u{1}\"", 3, .controlCharacter),
    ])
    func `escapes and control characters`(text: String, offset: Int, reason: JSONError.Reason) {
        expect(text, reason, at: offset)
    }

    @Test(
        arguments: [
            ([0x80], 0), ([0xbf], 0), ([0xff], 0), ([0xfe], 0), ([0x61, 0xc3], 1), ([0xc3, 0x28], 0), ([0xe2, 0x82], 0),
            ([0xe2, 0x28, 0xa1], 0), ([0xf0, 0x9f, 0x98], 0),
            // Longer than need be: "/" in two, three and four bytes, and U+0000 in two.
            ([0xc0, 0xaf], 0), ([0xe0, 0x80, 0xaf], 0), ([0xf0, 0x80, 0x80, 0xaf], 0), ([0xc0, 0x80], 0), ([0xc1, 0xbf], 0),
            ([0xe0, 0x9f, 0xbf], 0), ([0xf0, 0x8f, 0xbf, 0xbf], 0),
            // Surrogates, alone and in pairs.
            ([0xed, 0xa0, 0x80], 0), ([0xed, 0xbf, 0xbf], 0), ([0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80], 0),
            // Beyond U+10FFFF.
            ([0xf4, 0x90, 0x80, 0x80], 0), ([0xf5, 0x80, 0x80, 0x80], 0), ([0xf8, 0x88, 0x80, 0x80, 0x80], 0),
            // After valid characters, and after an escape of a different length.
            ([0xc3, 0xa9, 0x62, 0xff], 3), ([0x5c, 0x6e, 0xc3, 0xa9, 0xc3], 4), ([0x5c, 0x75, 0x30, 0x30, 0x65, 0x39, 0x80], 6),
            // A lead byte that an escape would complete if it were copied as bytes.
            ([0xc3, 0x5c, 0x75, 0x30, 0x30, 0x61, 0x39], 0),
        ] as [([UInt8], Int)])
    func `bytes that are not UTF-8`(content: [UInt8], offset: Int) {
        let quote = UInt8(ascii: "\"")
        expect([quote] + content + [quote], .invalidUTF8, at: 1 + offset)
        expect(Array("{".utf8) + [quote] + content + [quote] + Array(":1}".utf8), .invalidUTF8, at: 2 + offset)
    }

    @Test func `bytes that are not UTF-8 outside of strings`() {
        expect([0xff], .unexpectedByte, at: 0)
        expect([0x31, 0xc3], .trailingBytes, at: 1)
    }

    @Test(arguments: [
        (#"{"a":1,"a":2}"#, 7), (#"{"a":1,"b":2,"a":1}"#, 13), (#"{"a":1,"\u0061":2}"#, 7), (#"{"":1,"":1}"#, 6),
        (#"[{"a":{"b":1,"b":2}}]"#, 13), (#"{"\ud83d\ude00":1,"😀":1}"#, 18),
    ])
    func `a name that stands twice`(text: String, offset: Int) {
        expect(text, .duplicateKey, at: offset)
    }

    @Test(arguments: [15, 16, 17, 18, 500]) func `a name that stands twice among many`(count: Int) {
        let members = (0..<count).map { "\"n\($0)\":\($0)" }.joined(separator: ",")
        expect("{" + members + ",\"n0\":1}", .duplicateKey, at: members.utf8.count + 2)
        expect("{" + members + ",\"n\(count - 1)\":1}", .duplicateKey, at: members.utf8.count + 2)
    }

    @Test(arguments: ["[", "{\"a\":"]) func `deeper than the limit`(opening: String) {
        let text = String(repeating: opening, count: 32)
        expect(text + "[", .tooDeep, at: text.utf8.count)
        expect(text + "{", .tooDeep, at: text.utf8.count)
        expect(String(repeating: opening, count: 100_000), .tooDeep, at: text.utf8.count)
    }

    @Test func `the error names the byte and holds nothing of the text`() {
        let error = JSONError(.invalidUTF8, at: 17)
        #expect(error.description == "byte 17: bytes that are not UTF-8")
    }

    private func expect(_ text: String, _ reason: JSONError.Reason, at offset: Int) {
        expect(Array(text.utf8), reason, at: offset)
    }

    private func expect(_ bytes: [UInt8], _ reason: JSONError.Reason, at offset: Int) {
        #expect(throws: JSONError(reason, at: offset)) { try JSON.parse(bytes) }
    }
}
