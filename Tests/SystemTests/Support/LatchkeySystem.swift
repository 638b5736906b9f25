import Foundation
import Glibc
import HTTP
import JSON
import Runtime
import Synchronization
import Testing

/// A whole Latchkey as its users run it: `compose/up` in a folder of its own, at ports of its own.
///
/// Where a Kafka is given its log lies there, otherwise in its Postgres. It ends with the value, and with the test process however that ends.
final class LatchkeySystem: Sendable {
    struct Member: Sendable, Equatable {
        var name: String
        var pid: Int32?
        var state: String
        var restarts: Int64
        var port: Int64?
    }

    enum Failure: Error {
        case composeFailed(command: String, result: Program.Result)
        case notRunning(String)
    }

    let folder: String
    let port: Int
    private let settings: [String: String]
    /// While its input is open the shell waits; when this process is gone, it stops the system and removes the folder.
    private let keeper = Mutex<(process: Process, life: Pipe)?>(nil)

    /// - Parameter ports: how many ports in a row must be free.
    init(_ settings: [String: String] = [:], ports: Int = 1) throws {
        folder = NSTemporaryDirectory() + "latchkey-system-" + UUID().uuidString.prefix(8).lowercased()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        port = try FreePort.find(ports)
        self.settings = settings
        keeper.withLock { $0 = nil }
    }

    /// Starts it, and waits until it is ready.
    static func started(
        _ settings: [String: String] = [:], scale: [String: Int] = [:]
    ) async throws -> LatchkeySystem {
        let system = try LatchkeySystem(settings, ports: scale["gateway"] ?? 1)
        try await system.up(scale: scale)
        return system
    }

    deinit { close() }

    /// Removes the folder of a system that `up` never started.
    func discard() { try? FileManager.default.removeItem(atPath: folder) }

    /// Stops it and removes its folder, in the background.
    func close() {
        keeper.withLock { keeper in
            try? keeper?.life.fileHandleForWriting.close()
            keeper = nil
        }
    }

    /// Stops it for good and waits for that.
    func end() async throws {
        try await down()
        close()
    }

    // MARK: Compose

    static let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().path

    /// The folder of the executables: named by the caller, or where this test program was built.
    static let executables =
        ProcessInfo.processInfo.environment["LATCHKEY_BIN"]
        ?? URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent().path

    var state: String { folder + "/state" }

    var environment: [String: String?] {
        var environment: [String: String?] = [
            "LATCHKEY_STATE": state, "LATCHKEY_PORT": "\(port)", "LATCHKEY_BIN": Self.executables,
            // Requests of the tests say which address they come from.
            "TRUSTED_PROXIES": "127.0.0.0/8",
        ]
        if let kafka = TestKafka.given {
            environment["LATCHKEY_LOG"] = "kafka"
            environment["LATCHKEY_KAFKA_BOOTSTRAP_SERVERS"] = kafka.servers
            environment["LATCHKEY_KAFKA_PREFIX"] = topicPrefix
        }
        for (name, value) in settings { environment[name] = value }
        return environment
    }

    /// What the names of its topics in Kafka begin with.
    var topicPrefix: String { URL(fileURLWithPath: folder).lastPathComponent + "." }

    /// Runs one of the commands in `compose/`, whatever comes of it.
    func compose(_ command: String, _ arguments: [String] = [], settings: [String: String?] = [:]) async throws -> Program.Result
    {
        try await Program.run(
            Self.repository + "/compose/" + command, arguments, environment: environment.merging(settings) { $1 })
    }

    func up(scale: [String: Int] = [:]) async throws {
        try keep()
        let wishes = scale.sorted { $0.key < $1.key }.flatMap { ["--scale", "\($0.key)=\($0.value)"] }
        let result = try await compose("up", ["-d"] + wishes)
        guard result.status == 0 else { throw Failure.composeFailed(command: "up", result: result) }
    }

    func down() async throws {
        let result = try await compose("down")
        guard result.status == 0 else { throw Failure.composeFailed(command: "down", result: result) }
    }

    private func keep() throws {
        try keeper.withLock { keeper in
            guard keeper == nil else { return }
            let process = Process()
            let life = Pipe()
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = [
                "-c", #"cat >/dev/null; "$0/compose/down" >/dev/null 2>&1; rm -rf "$1""#, Self.repository, folder,
            ]
            process.environment = Program.merged(environment)
            process.standardInput = life
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
            keeper = (process, life)
        }
    }

    /// What the supervisor and the services have said last, for whoever has to find out why a test failed.
    var lastWords: String {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: state + "/logs").sorted()) ?? []
        return names.map { name in
            let text = (try? String(contentsOfFile: "\(state)/logs/\(name)", encoding: .utf8)) ?? ""
            return "--- \(name)\n" + text.split(separator: "\n").suffix(25).joined(separator: "\n")
        }.joined(separator: "\n")
    }

    // MARK: Processes

    func members() async throws -> [Member] {
        let result = try await compose("status", ["--json"])
        return try (JSON.parse(result.output).array ?? []).map { member in
            Member(
                name: member["name"]?.string ?? "", pid: member["pid"]?.int64.map { Int32($0) },
                state: member["state"]?.string ?? "",
                restarts: member["restarts"]?.int64 ?? 0, port: member["port"]?.int64 ?? member["operationsPort"]?.int64)
        }
    }

    /// What was started again though nobody ended it, and what each said before that.
    func unaskedEnds() async throws -> [String] {
        try await members().filter { $0.restarts > 0 }.map { member in
            let log = (try? String(contentsOfFile: "\(state)/logs/\(member.name).log", encoding: .utf8)) ?? ""
            let lines = log.split(separator: "\n")
            let end = lines.lastIndex { $0.contains("\(member.name) ended with") } ?? lines.endIndex - 1
            // Deliveries on the console have no level.
            let said = lines.prefix(end + 1).filter { !$0.contains(#""level":"info""#) && !$0.contains(#""channel":"#) }
            return "\(member.name) ended \(member.restarts) times: \(said.suffix(8).joined(separator: " ⏎ "))"
        }
    }

    func member(_ name: String) async throws -> Member? { try await members().first { $0.name == name } }

    /// Ends a process without any warning.
    func kill(_ name: String) async throws {
        if let pid = try await member(name)?.pid { Glibc.kill(pid, SIGKILL) }
    }

    /// Runs a command for operators as the running service would.
    func operate(_ service: String, _ arguments: [String]) async throws -> Program.Result {
        guard let pid = try await member(service)?.pid else { throw Failure.notRunning(service) }
        let own = try Data(contentsOf: URL(fileURLWithPath: "/proc/\(pid)/environ")).split(separator: 0)
        let pairs = own.map {
            String(decoding: $0, as: UTF8.self).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        }
        let environment = Dictionary(pairs.map { (String($0[0]), $0.count > 1 ? String($0[1]) : "") }) { $1 }
        return try await Program.run("\(Self.executables)/\(service)", arguments, environment: environment)
    }

    func isReady() async -> Bool {
        // A connection that was kept over a restart fails once; that is not what is asked here.
        guard let response = try? await gateway().send(.get("/readyz")) else { return false }
        return response.status == .ok
    }

    // MARK: What it did

    func gateway(_ number: Int = 1, timeout: Duration = .seconds(30)) -> SocketClient {
        SocketClient(port: UInt16(port + number - 1), timeout: timeout)
    }

    /// The newest code for a recipient, as `compose/code` prints it.
    func code(for recipient: String) async throws -> String {
        var code = ""
        try await eventually("a code for \(recipient) is delivered") {
            let result = try await compose("code", [recipient])
            code = result.output.trimmingCharacters(in: .whitespacesAndNewlines)
            return result.status == 0
        }
        return code
    }

    /// Every delivery to a recipient, oldest first.
    func deliveries(to recipient: String) throws -> [JSON] {
        let text = (try? String(contentsOfFile: state + "/outbox.jsonl", encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { try? JSON.parse(String($0)) }.filter { $0["to"]?.string == recipient }
    }

    /// Runs SQL as the superuser; one row per line, fields separated by `|`.
    func sql(_ statement: String) async throws -> [String] {
        let result = try await compose("postgres", ["psql", "-X", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", statement])
        guard result.status == 0 else { throw Failure.composeFailed(command: "postgres psql", result: result) }
        return result.output.split(separator: "\n").map(String.init)
    }
}

/// Ports that nobody uses. Each test process takes its own range, so that tests that run at once do not meet.
private enum FreePort {
    private static let next = Mutex(20_000 + Int(getpid()) % 400 * 100)

    static func find(_ count: Int) throws -> Int {
        try next.withLock { next in
            for _ in 0..<1_000 {
                let candidate = next
                next += count
                if (candidate..<candidate + count).allSatisfy(isFree) { return candidate }
            }
            throw POSIXError(.EADDRINUSE)
        }
    }

    private static func isFree(_ port: Int) -> Bool {
        let probe = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(probe) }
        var on: Int32 = 1
        setsockopt(probe, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(probe, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
