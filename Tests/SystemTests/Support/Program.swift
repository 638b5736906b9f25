import Foundation
import Runtime

/// Runs other programs to their end, off Swift's own threads.
enum Program {
    struct Result: Sendable, CustomStringConvertible {
        var status: Int32
        var bytes: Data
        var errors: String

        var output: String { String(decoding: bytes, as: UTF8.self) }

        var description: String { "status \(status)\n\(output)\(errors)" }
    }

    private static let threads = BlockingPool(name: "programs", threads: 64)

    /// - Parameter environment: changes of this process's environment; `nil` removes a variable.
    static func run(
        _ path: String, _ arguments: [String] = [], environment: [String: String?] = [:], directory: String? = nil
    ) async throws -> Result {
        try await threads.run {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: path)
            process.arguments = arguments
            process.environment = merged(environment)
            if let directory { process.currentDirectoryURL = URL(fileURLWithPath: directory) }
            // Files, not pipes: nobody has to read them at the same time.
            let output = try Captured()
            let errors = try Captured()
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = output.handle
            process.standardError = errors.handle
            try process.run()
            process.waitUntilExit()
            return Result(
                status: process.terminationStatus, bytes: output.bytes(), errors: String(decoding: errors.bytes(), as: UTF8.self))
        }
    }

    /// Work that blocks.
    static func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await threads.run(body)
    }

    static func merged(_ changes: [String: String?]) -> [String: String] {
        // A Latchkey that runs on this machine, and its settings, are none of the tests' business.
        var environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("LATCHKEY_") && $0.key != "LD_PRELOAD" }
        for (name, value) in changes { environment[name] = value }
        return environment
    }
}

/// A file without a name that takes what a program writes.
private struct Captured {
    let handle: FileHandle

    init() throws {
        let path = NSTemporaryDirectory() + "latchkey-output-" + UUID().uuidString
        guard FileManager.default.createFile(atPath: path, contents: nil), let handle = FileHandle(forUpdatingAtPath: path) else {
            throw CocoaError(.fileWriteUnknown)
        }
        unlink(path)
        self.handle = handle
    }

    func bytes() -> Data {
        try? handle.seek(toOffset: 0)
        return (try? handle.readToEnd()) ?? Data()
    }
}
