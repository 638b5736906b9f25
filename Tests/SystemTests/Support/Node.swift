import Foundation

/// Node, and axios as the distribution has it.
enum Node {
    /// Also where a Node from elsewhere does not look for the modules of Debian.
    private static let environment = ["NODE_PATH": "/usr/share/nodejs:/usr/lib/nodejs"]

    private static let executable = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        .map { "\($0)/node" }.first { FileManager.default.isExecutableFile(atPath: $0) }

    /// Whether there is one that knows `fetch`, beside an axios.
    static func canRun() async throws -> Bool {
        guard executable != nil else { return false }
        return try await run(["-e", "require('axios'); fetch"]).status == 0
    }

    static func run(_ arguments: [String]) async throws -> Program.Result {
        try await Program.run(executable ?? "node", arguments, environment: environment)
    }
}
