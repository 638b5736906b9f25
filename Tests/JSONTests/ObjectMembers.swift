import JSON
import Testing

@Suite struct ObjectMembers {
    @Test func `setting keeps the place, adding goes to the end, nil removes`() {
        var object: JSONObject = ["a": 1, "b": 2, "c": 3]
        object["b"] = 20
        object["d"] = 4
        object["a"] = nil
        object["none"] = nil
        #expect(object.map(\.key) == ["b", "c", "d"])
        #expect(object.map(\.value) == [20, 3, 4])
        object["a"] = .null
        #expect(object["a"] == .null)
        #expect(object.last?.key == "a")
    }

    @Test(arguments: [3, 16, 17, 40]) func `the same whatever the number of members`(count: Int) {
        var object = JSONObject()
        for number in 0..<count { object["\(number)"] = .integer(Int64(number)) }
        #expect((0..<count).allSatisfy { object["\($0)"] == .integer(Int64($0)) })
        #expect(object["\(count)"] == nil)
        for number in stride(from: 0, to: count, by: 2) { object["\(number)"] = nil }
        #expect(object.count == count / 2)
        for number in 0..<count {
            #expect(object["\(number)"] == (number.isMultiple(of: 2) ? nil : .integer(Int64(number))))
        }
        object["0"] = "again"
        #expect(object.last?.value == "again" && object["0"] == "again")
    }

    @Test func `the order of members does not matter to equality, their number and values do`() {
        let one: JSON = ["a": 1, "b": ["x": 1, "y": 2]]
        let other: JSON = ["b": ["y": 2, "x": 1], "a": 1]
        #expect(one == other)
        #expect(one.hashValue == other.hashValue)
        #expect(one != ["a": 1])
        #expect(one != ["a": 2, "b": ["x": 1, "y": 2]])
        #expect(["a": 1, "b": 2] as JSON != ["a": 1, "c": 2])
        #expect(["a": nil] as JSON != [:])
    }

    @Test func `names are the same only if their bytes are`() throws {
        // U+212B and U+00C5 are the same character to Swift, written in other bytes.
        let text = #"{"\u00e9":1,"e\u0301":2,"\u212b":3,"\u00c5":4,"e":5,"":6}"#
        let object = try #require(try JSON.parse(text).object)
        for (name, value) in [("\u{e9}", 1), ("e\u{301}", 2), ("\u{212b}", 3), ("\u{c5}", 4), ("e", 5), ("", 6)]
            as [(String, Int64)]
        {
            #expect(object[name] == .integer(value))
        }
        #expect(object.count == 6)
    }
}
