import Foundation
import Glibc
import Synchronization

/// The time of day as chosen programs see it: this machine's, and as much more or less as a test says. Their other clocks go
/// on as they do, as when somebody sets a machine's clock.
final class WallClock: Sendable {
    /// Without a C compiler there is none.
    static let compiler: String? = ["clang", "cc", "gcc"].lazy.flatMap { name in
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map { "\($0)/\(name)" }
    }.first { access($0, X_OK) == 0 }

    private let folder: String
    private var offsetFile: String { folder + "/offset" }
    private var library: String { folder + "/wall-clock.so" }

    /// - Parameter folder: an existing one, that whoever runs the programs may read.
    init(in folder: String) async throws {
        self.folder = folder
        let source = LatchkeySystem.repository + "/compose/lib/wall-clock.c"
        let result = try await Program.run(Self.compiler ?? "cc", ["-O1", "-shared", "-fPIC", source, "-o", library])
        guard result.status == 0 else { throw LatchkeySystem.Failure.composeFailed(command: "cc", result: result) }
        try set(ahead: .zero)
    }

    /// From now on the programs' clock is ahead of this machine's by so much.
    func set(ahead offset: Duration) throws {
        let file = open(offsetFile, O_WRONLY | O_CREAT, 0o644)
        defer { close(file) }
        var seconds = offset.components.seconds
        guard pwrite(file, &seconds, 8, 0) == 8 else { throw POSIXError(.EIO) }
    }

    /// What programs have to be started with.
    var environment: [String: String] { ["LD_PRELOAD": library, "WALL_CLOCK_OFFSET": offsetFile] }

    /// A folder of executables that see this clock, whoever starts them.
    func wrapped(_ names: [String], in executables: String) throws -> String {
        let wrappers = folder + "/bin"
        try FileManager.default.createDirectory(atPath: wrappers, withIntermediateDirectories: true)
        let settings = environment.map { "\($0)='\($1)'" }.joined(separator: " ")
        for name in names {
            let script = "#!/bin/sh\nexec env \(settings) '\(executables)/\(name)' \"$@\"\n"
            try script.write(toFile: "\(wrappers)/\(name)", atomically: false, encoding: .utf8)
            chmod("\(wrappers)/\(name)", 0o755)
        }
        return wrappers
    }
}
