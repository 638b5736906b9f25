import Foundation
import Testing

@testable import IdentityService

@Suite struct LineFileTests {
    /// The lines of a file with these bytes.
    private func lines(_ bytes: [UInt8]) throws -> (lines: [[UInt8]], position: Int) {
        let path = NSTemporaryDirectory() + "lines-\(UUID().uuidString)"
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let file = try LineFile(path)
        #expect(file.size == bytes.count)
        var lines: [[UInt8]] = []
        while let line = try file.next() { lines.append(line) }
        return (lines, file.position)
    }

    @Test(arguments: [
        ("", []), ("\n", [""]), ("a", ["a"]), ("a\n", ["a"]), ("a\nb", ["a", "b"]), ("\n\na\n\n", ["", "", "a", ""]),
        ("a\0b\r\n", ["a\0b\r"]),
    ]) func `lines end with a newline, and the last one with the file`(text: String, expected: [String]) throws {
        let (lines, position) = try lines(Array(text.utf8))
        #expect(lines == expected.map { Array($0.utf8) })
        #expect(position == text.utf8.count)
    }

    @Test func `lines of any length are read, wherever what is read at once ends`() throws {
        let lengths = [65_535, 0, 65_536, 1, 65_537, 200_000, 65_534]
        let all = lengths.map { length in (0..<length).map { UInt8(truncatingIfNeeded: $0 % 101 + 32) } }
        #expect(try lines(Array(all.joined(separator: [0x0a]))).lines == all)
    }

    @Test func `a line that is too long is cut, and does not take the next one along`() throws {
        let long = [UInt8](repeating: 0x61, count: 3 * LineFile.longest)
        let (lines, position) = try lines(long + Array("\nb\n".utf8))
        #expect(lines == [Array(long.prefix(LineFile.longest + 1)), [0x62]])
        #expect(position == long.count + 3)
        #expect(throws: ImportLine.Fault("has more than 1048576 bytes")) { try ImportLine(lines[0]) }
    }

    @Test func `what cannot be read says so`() {
        #expect(throws: LineFile.Failure.self) { try LineFile("/nonexistent/file") }
        #expect(throws: LineFile.Failure.self) { try LineFile("/").next() }
    }
}
