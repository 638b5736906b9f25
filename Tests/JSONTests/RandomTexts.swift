import JSON
import SeededRandom
import Testing

/// Values and texts drawn from a seed, so that a failure can be run again.
@Suite struct RandomTexts {
    @Test(arguments: 0..<20 as Range<UInt64>) func `what was written is read back the same`(seed: UInt64) throws {
        var source = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let value = source.value(depth: 6)
            let bytes = value.serialized()
            let read = try JSON.parse(bytes)
            #expect(read == value, "seed \(seed)")
            #expect(read.serialized() == bytes, "seed \(seed)")
        }
    }

    @Test(arguments: 0..<20 as Range<UInt64>) func `a changed text is refused, or is a value like any other`(seed: UInt64) throws
    {
        var source = SeededGenerator(seed: seed)
        for _ in 0..<100 {
            var bytes = source.value(depth: 4).serialized()
            for _ in 0..<Int.random(in: 1...3, using: &source) {
                let place = Int.random(in: 0..<bytes.count, using: &source)
                switch Int.random(in: 0..<3, using: &source) {
                case 0: bytes[place] = UInt8.random(in: .min ... .max, using: &source)
                case 1: bytes.insert(Array("{}[]\",:\\0e-".utf8).randomElement(using: &source)!, at: place)
                default: bytes.removeSubrange(place...)
                }
                if bytes.isEmpty { break }
            }
            let result: Result<JSON, JSONError> = Result { () throws(JSONError) in try JSON.parse(bytes) }
            switch result {
            case .success(let value): #expect(try JSON.parse(value.serialized()) == value, "seed \(seed)")
            case .failure(let error): #expect((0...bytes.count).contains(error.offset), "seed \(seed)")
            }
        }
    }

    @Test func `every finite Double comes back with all its bits`() throws {
        var source = SeededGenerator(seed: 7)
        for _ in 0..<10_000 {
            let number = Double(bitPattern: source.next())
            guard number.isFinite else { continue }
            let read = try #require(try JSON.parse(JSON.number(number).serialized()).double)
            #expect(read.bitPattern == number.bitPattern)
        }
    }

    @Test(.timeLimit(.minutes(1))) func `an object of many members takes time in proportion`() throws {
        let count = 50_000
        let text = "{" + (0..<count).map { "\"name\($0)\":0" }.joined(separator: ",") + "}"
        #expect(try JSON.parse(text).object?.count == count)
    }
}

extension SeededGenerator {
    fileprivate mutating func value(depth: Int) -> JSON {
        switch Int.random(in: 0..<(depth > 0 ? 9 : 6), using: &self) {
        case 0: return .null
        case 1: return .bool(Bool.random(using: &self))
        case 2: return .integer(Int64(truncatingIfNeeded: next() >> UInt64.random(in: 0..<64, using: &self)))
        case 3:
            let number = Double(bitPattern: next())
            return .number(number.isFinite ? number : 0.5)
        case 4, 5: return .string(string())
        case 6:
            return .array((0..<Int.random(in: 0..<6, using: &self)).map { _ in value(depth: depth - 1) })
        default:
            var object = JSONObject()
            for _ in 0..<Int.random(in: 0..<24, using: &self) { object[string()] = value(depth: depth - 2) }
            return .object(object)
        }
    }

    mutating func string() -> String {
        var string = ""
        for _ in 0..<Int.random(in: 0..<12, using: &self) {
            let limit: UInt32 = [0x20, 0x80, 0x800, 0x1_0000, 0x11_0000].randomElement(using: &self)!
            if let scalar = Unicode.Scalar(UInt32.random(in: 0..<limit, using: &self)) { string.unicodeScalars.append(scalar) }
        }
        return string
    }
}
