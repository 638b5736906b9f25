import JSON
import Testing

@Suite struct AcceptedTexts {
    @Test(
        arguments: [
            ("null", JSON.null), ("true", true), ("false", false), ("0", 0), ("-1", -1), ("\"\"", ""), ("[]", []), ("{}", [:]),
            (" \t\r\n[ 1 ,\n2 ] \t", [1, 2]), ("{ \"a\" : { \"b\" : [ null ] } }", ["a": ["b": [nil]]]), ("[[],{}]", [[], [:]]),
        ] as [(String, JSON)])
    func `every kind of value, with white space around it`(text: String, value: JSON) throws {
        #expect(try JSON.parse(text) == value)
    }

    @Test(arguments: [
        ("9223372036854775807", JSON.integer(.max)), ("-9223372036854775808", .integer(.min)),
        ("9223372036854775808", .number(9_223_372_036_854_775_808)),
        ("-9223372036854775809", .number(-9_223_372_036_854_775_808)),
        ("100000000000000000000000000000", .number(1e29)), ("1.0", .number(1)), ("1e2", .number(100)), ("1E+2", .number(100)),
        ("-1.5e-2", .number(-0.015)), ("0.1", .number(0.1)), ("0e1", .number(0)), ("0E-0", .number(0)),
        ("1.7976931348623157e308", .number(.greatestFiniteMagnitude)), ("5e-324", .number(.leastNonzeroMagnitude)),
        ("123123e-10000", .number(0)), ("2.2250738585072011e-308", .number(.leastNormalMagnitude.nextDown)),
    ])
    func `integers that fit are integers, every other number is the nearest Double`(text: String, value: JSON) throws {
        #expect(try JSON.parse(text) == value)
    }

    @Test func `minus zero keeps its sign`() throws {
        let zero = try #require(try JSON.parse("-0").double)
        #expect(zero.sign == .minus && zero == 0)
        #expect(String(decoding: try JSON.parse("-0").serialized(), as: UTF8.self) == "-0.0")
    }

    @Test(arguments: [
        (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{c}\n\r\t"), (#""\u0041\u00e9\u00E9\u20ac""#, "Aéé€"), (#""\ud83d\ude00""#, "😀"),
        (#""\uD834\uDD1Ex""#, "𝄞x"), (#""\u0000""#, "\0"), (#""\ue000\ufffd""#, "\u{e000}\u{fffd}"),
        (#""\udbff\udfff""#, "\u{10ffff}"), ("\"\u{7f}\u{80}\u{2028}\"", "\u{7f}\u{80}\u{2028}"), (#""a\\u0041""#, #"a\u0041"#),
        ("\"ß€😀é\\n\"", "ß€😀é\n"), (#""\uFEFFa""#, "\u{feff}a"),
    ])
    func `strings and their escapes`(text: String, value: String) throws {
        let string = try #require(try JSON.parse(text).string)
        #expect(Array(string.utf8) == Array(value.utf8))
    }

    @Test func `members keep their order and their last bytes`() throws {
        let object = try #require(try JSON.parse(#"{"z":1,"a":2,"":3,"\u0000":4}"#).object)
        #expect(Array(object.keys) == ["z", "a", "", "\0"])
        #expect(object["\0"] == 4)
    }

    @Test func `names that only Unicode calls the same are two names`() throws {
        let object = try #require(try JSON.parse("{\"\u{e9}\":1,\"e\u{301}\":2}").object)
        #expect(object.count == 2)
        #expect(object["\u{e9}"] == 1)
        #expect(object["e\u{301}"] == 2)
    }

    @Test(arguments: [0, 1, 31, 32]) func `nested down to the limit`(depth: Int) throws {
        let text = String(repeating: "[", count: depth) + "7" + String(repeating: "]", count: depth)
        var value = try JSON.parse(text)
        for _ in 0..<depth { value = try #require(value.array?.first) }
        #expect(value == 7)
    }

    @Test func `many siblings are not depth`() throws {
        let text = "[" + Array(repeating: "[{\"a\":[]}]", count: 100).joined(separator: ",") + "]"
        #expect(try JSON.parse(text).array?.count == 100)
    }

    @Test func `the parts of a value that are there, and nil for those that are not`() throws {
        let value = try JSON.parse(#"{"s":"x","i":5,"w":5.0,"f":5.5,"b":true,"a":[1],"o":{"k":null},"big":1e300}"#)
        #expect(value["s"]?.string == "x" && value["s"]?.int64 == nil)
        #expect(value["i"]?.int64 == 5 && value["i"]?.double == 5 && value["i"]?.bool == nil)
        #expect(value["w"]?.int64 == 5 && value["f"]?.int64 == nil && value["f"]?.double == 5.5)
        #expect(value["big"]?.int64 == nil)
        #expect(value["b"]?.bool == true && value["b"]?.string == nil)
        #expect(value["a"]?.array == [1] && value["a"]?.object == nil)
        #expect(value["o"]?["k"]?.isNull == true && value["o"]?["none"] == nil)
        #expect(value["s"]?["x"] == nil && value["a"]?["0"] == nil)
    }

    /// Strings are read several bytes at a time; what ends them, or must be looked at, may stand anywhere.
    @Test(arguments: 0..<36) func `what matters in a string is seen wherever it stands`(place: Int) throws {
        let before = String(repeating: "a", count: place)
        let after = String(repeating: "b", count: 20)
        for (written, read) in [
            ("\\\"", "\""), ("\\\\", "\\"), ("\\n", "\n"), ("é", "é"), ("\u{10ffff}", "\u{10ffff}"), ("\u{7f}", "\u{7f}"),
            (" ", " "),
        ] {
            #expect(try JSON.parse("\"\(before)\(written)\(after)\"").string == before + read + after)
        }
        #expect(try JSON.parse("[\"\(before)\",\"\(after)\"]") == [.string(before), .string(after)])
        for byte in UInt8(0)..<0x20 {
            let text = Array("\"\(before)".utf8) + [byte] + Array("\(after)\"".utf8)
            let error = #expect(throws: JSONError.self) { try JSON.parse(text) }
            #expect(error?.reason == .controlCharacter && error?.offset == place + 1)
        }
        for byte in [0x80, 0xff] as [UInt8] {
            let error = #expect(throws: JSONError.self) {
                try JSON.parse(Array("\"\(before)".utf8) + [byte] + Array("\(after)\"".utf8))
            }
            #expect(error?.reason == .invalidUTF8 && error?.offset == place + 1)
        }
    }
}
