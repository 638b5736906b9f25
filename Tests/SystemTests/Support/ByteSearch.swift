import Foundation

/// Looks for texts in every byte of files, in all the ways in which they may stand there. `grep` does the reading.
enum ByteSearch {
    /// A text as it stands in a page of a table, in a dump that shows bytes in hexadecimal, or in base64 of something longer.
    static func spellings(of text: String) -> [String] {
        let bytes = Array(text.utf8)
        let hex = bytes.map { String(format: "%02x", $0) }.joined()
        // Base64 of a text within others depends on where it begins; what lies between two groups is always the same.
        let base64 = (0..<3).map { shift -> String in
            let padded = Data([UInt8](repeating: 0, count: shift) + bytes).base64EncodedString()
            let dropped = shift == 0 ? 0 : 4
            return String(padded.dropFirst(dropped).prefix((shift + bytes.count) / 3 * 4 - dropped))
        }
        let both = base64 + base64.map { $0.replacing("+", with: "-").replacing("/", with: "_") }
        return [text, hex, hex.uppercased()] + Set(both).filter { $0.count >= 8 }
    }

    /// The files, in these folders and below, that contain one of the texts in one of its spellings.
    static func files(containing texts: [String], in places: [String]) async throws -> [String] {
        let patterns = NSTemporaryDirectory() + "latchkey-patterns-" + UUID().uuidString
        try texts.flatMap(spellings).joined(separator: "\n").write(toFile: patterns, atomically: false, encoding: .utf8)
        defer { unlink(patterns) }
        return try await grep(["--fixed-strings", "--ignore-case", "--file", patterns], in: places)
    }

    /// The files that contain these digits where they are not part of a larger number, or one of their other spellings.
    static func files(containingNumber digits: String, in places: [String]) async throws -> [String] {
        let alone = "(^|[^0-9])\(digits)([^0-9]|$)"
        let others = spellings(of: digits).dropFirst().joined(separator: "|")
        return try await grep(["--extended-regexp", "--regexp", "\(alone)|\(others)"], in: places)
    }

    private static func grep(_ what: [String], in places: [String]) async throws -> [String] {
        let result = try await Program.run(
            "/bin/grep", ["--recursive", "--text", "--files-with-matches", "--no-messages"] + what + ["--"] + places,
            environment: ["LC_ALL": "C"])
        return result.output.split(separator: "\n").map(String.init)
    }
}
