import Foundation

/// A folder of one test, gone with this object.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "latchkey-notifier-" + UUID().uuidString.lowercased()
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    func write(_ bytes: [UInt8], to name: String) throws { try Data(bytes).write(to: URL(fileURLWithPath: file(name))) }

    /// The lines of a file, without the feeds.
    func lines(_ name: String) throws -> [String] {
        guard FileManager.default.fileExists(atPath: file(name)) else { return [] }
        return String(decoding: try Data(contentsOf: URL(fileURLWithPath: file(name))), as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }
}
