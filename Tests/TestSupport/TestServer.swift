import Foundation
import Postgres
import Synchronization

/// A Postgres of one's own: on a Unix socket in a folder of its own, fully durable, and gone with the test process,
/// however that ends.
public final class TestServer: Sendable {
    private struct Watch {
        var process: Process
        /// While its writing end is open the watch keeps the server; when the test process dies, it closes.
        var life: Pipe
    }

    public let folder: String
    private let watches = Mutex<[Watch]>([])

    /// The server that tests without special needs share: the one that `LATCHKEY_TEST_POSTGRES` names (keywords and values
    /// of a role that may create databases), otherwise one of this process.
    public static let shared: Result<String, any Error> = Result {
        if let given = ProcessInfo.processInfo.environment["LATCHKEY_TEST_POSTGRES"], !given.isEmpty {
            guard !given.contains("://") else {
                throw TestServerError(reason: "LATCHKEY_TEST_POSTGRES must be keywords and values")
            }
            return given
        }
        let server = try TestServer()
        ownShared.withLock { $0 = server }
        return server.connectionString
    }
    private static let ownShared = Mutex<TestServer?>(nil)

    /// Makes a cluster and starts it.
    public init() throws {
        folder = NSTemporaryDirectory() + "latchkey-test-" + UUID().uuidString.prefix(8).lowercased()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        if getuid() == 0 {
            guard let user = getpwnam("postgres"), chown(folder, user.pointee.pw_uid, user.pointee.pw_gid) == 0 else {
                throw TestServerError(reason: "Postgres does not run as root, and there is no user postgres")
            }
        }
        try Self.run(
            Self.asServerUser([
                Self.programs + "/initdb", "--pgdata", folder + "/data", "--username", "latchkey", "--auth", "trust",
                "--encoding", "UTF8",
                "--locale", "C", "--no-sync",
            ]))
        try start()
    }

    deinit { stop() }

    /// Keywords and values that reach the database `postgres` as the superuser.
    public var connectionString: String { "host=\(folder) user=latchkey dbname=postgres" }

    /// Starts the server, again after `kill`, and waits until it answers.
    public func start() throws {
        var lastFailure: PostgresError?
        for _ in 0..<600 {
            if postmaster == nil { try launch() }
            do {
                try PostgresConnection(.init(connectionString, applicationName: "test server")).query("SELECT 1")
                return
            } catch {
                lastFailure = error
                usleep(50_000)
            }
        }
        throw TestServerError(reason: "the server did not start: \(lastFailure.map(\.description) ?? "")")
    }

    /// Kills the server as a crash would, and waits until its last process is gone.
    public func kill() {
        guard let postmaster else { return }
        let backends = Self.children(of: postmaster)
        Foundation.kill(postmaster, SIGKILL)
        for process in backends + [postmaster] { while Self.isAlive(process) { usleep(2_000) } }
    }

    /// Stops every process of the server without ending it, as a machine that hangs would.
    public func freeze() {
        guard let postmaster else { return }
        for process in [postmaster] + Self.children(of: postmaster) { Foundation.kill(process, SIGSTOP) }
    }

    public func thaw() {
        guard let postmaster else { return }
        for process in Self.children(of: postmaster) + [postmaster] { Foundation.kill(process, SIGCONT) }
    }

    /// Ends the server and removes its folder.
    public func stop() {
        let ended = watches.withLock { watches in
            defer { watches = [] }
            return watches
        }
        for watch in ended { try? watch.life.fileHandleForWriting.close() }
        for watch in ended { watch.process.waitUntilExit() }
    }

    // MARK: - Processes

    private static let programs: String = {
        let folders = [
            "/usr/lib/postgresql/15/bin", "/usr/lib/postgresql/16/bin", "/usr/lib/postgresql/17/bin", "/usr/local/pgsql/bin",
        ]
        return folders.first { FileManager.default.isExecutableFile(atPath: $0 + "/initdb") } ?? "/usr/bin"
    }()

    private static func asServerUser(_ command: [String]) -> [String] {
        guard getuid() == 0 else { return command }
        return [
            "/usr/bin/setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups", "--inh-caps=+dac_override",
            "--ambient-caps=+dac_override",
        ] + command
    }

    private static func run(_ command: [String]) throws {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = Array(command.dropFirst())
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw TestServerError(reason: String(decoding: text, as: UTF8.self)) }
    }

    /// A shell runs the server until its standard input ends, then stops it and removes the folder.
    private func launch() throws {
        let server = Self.asServerUser([
            Self.programs + "/postgres", "-D", folder + "/data", "-k", folder, "-c", "listen_addresses=", "-c",
            "max_connections=200",
            "-c", "shared_buffers=64MB",
        ])
        let script = #"""
            folder=$1; shift
            "$@" >>"$folder/log" 2>&1 &
            server=$!
            cat >/dev/null
            kill -CONT $(cat /proc/$server/task/$server/children) $server 2>/dev/null
            kill -QUIT $server 2>/dev/null
            wait $server
            rm -rf "$folder"
            """#
        let process = Process()
        let life = Pipe()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", script, "sh", folder] + server
        process.standardInput = life
        try process.run()
        watches.withLock { $0.append(Watch(process: process, life: life)) }
        // Its file appears first of all; one that cannot start (an old process is still going) is started again.
        for _ in 0..<500 where postmaster == nil { usleep(2_000) }
    }

    private var postmaster: Int32? {
        guard let text = try? String(contentsOfFile: folder + "/data/postmaster.pid", encoding: .utf8),
            let pid = text.split(separator: "\n").first.flatMap({ Int32($0) }), Self.isAlive(pid)
        else { return nil }
        return pid
    }

    /// Alive and no zombie.
    private static func isAlive(_ process: Int32) -> Bool {
        guard let stat = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else { return false }
        return stat.split(separator: ")").last?.dropFirst().first != "Z"
    }

    private static func children(of process: Int32) -> [Int32] {
        let text = try? String(contentsOfFile: "/proc/\(process)/task/\(process)/children", encoding: .utf8)
        return (text ?? "").split(separator: " ").compactMap { Int32($0) }
    }
}

public struct TestServerError: Error, CustomStringConvertible {
    public var reason: String
    public var description: String { reason }
}
