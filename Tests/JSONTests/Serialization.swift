import JSON
import Testing

@Suite struct Serialization {
    @Test(
        arguments: [
            (JSON.null, "null"), (true, "true"), (false, "false"), (0, "0"), (.integer(.min), "-9223372036854775808"),
            (1.5, "1.5"),
            (.number(1), "1.0"), (.number(1e16), "1e+16"), (.number(.leastNonzeroMagnitude), "5e-324"), (.number(-0.0), "-0.0"),
            ([], "[]"), ([:], "{}"),
            ([1, [2, [nil]], "x"], "[1,[2,[null]],\"x\"]"), (["b": 1, "a": ["c": []]], "{\"b\":1,\"a\":{\"c\":[]}}"),
            (["\"\n": "x"], #"{"\"\n":"x"}"#),
        ] as [(JSON, String)])
    func `the shortest text, in the order in which it was made`(value: JSON, text: String) {
        #expect(String(decoding: value.serialized(), as: UTF8.self) == text)
        #expect(value.description == text)
    }

    @Test func `control characters, quotation mark and backslash are escaped, nothing else is`() {
        var expected = "\""
        for byte in 0..<0x20 as Range<UInt8> {
            switch byte {
            case 8: expected += "\\b"
            case 9: expected += "\\t"
            case 10: expected += "\\n"
            case 12: expected += "\\f"
            case 13: expected += "\\r"
            default: expected += "\\u00" + (byte < 16 ? "0" : "1") + String(byte % 16, radix: 16)
            }
        }
        expected += #"\"\\/"# + "\u{7f}é\u{2028}😀\""
        let scalars = (0..<0x20 as Range<UInt8>).map { Unicode.Scalar($0) }
        var string = ""
        string.unicodeScalars.append(contentsOf: scalars)
        string += "\"\\/\u{7f}é\u{2028}😀"
        #expect(String(decoding: JSON.string(string).serialized(), as: UTF8.self) == expected)
    }

    @Test(arguments: [Double.infinity, -.infinity, .nan]) func `what has no JSON form becomes null`(number: Double) {
        #expect(JSON.number(number).serialized() == Array("null".utf8))
    }

    @Test func `appending leaves what was there`() {
        var bytes = Array("x".utf8)
        JSON.array([1]).append(to: &bytes)
        #expect(bytes == Array("x[1]".utf8))
    }
}
