import Foundation
import Glibc
import JSON
import Testing

extension SystemTests {
    /// The commands in `compose/`.
    @Suite struct ComposeTests {
        @Test func `status, logs and a second up tell what runs, and down ends all of it`() async throws {
            let system = try await LatchkeySystem.started()
            let status = try await system.compose("status")
            #expect(status.status == 0)
            let rows = status.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
            #expect(rows.dropFirst().map { $0[0] } == ["postgres", "verification", "identity", "notifier", "gateway"])
            #expect(rows.dropFirst().allSatisfy { $0[2] == "running" })

            let again = try await system.compose("up")
            #expect(again.status == 0)
            #expect(again.output.contains("already running"))

            let logs = try await system.compose("logs", ["gateway"])
            #expect(logs.output.split(separator: "\n").allSatisfy { $0.hasPrefix("gateway | ") })
            #expect(logs.output.contains("starting"))

            let pids = try await system.members().compactMap(\.pid)
            #expect(pids.count == 5)
            try await system.down()
            #expect(pids.allSatisfy { kill($0, 0) != 0 })
            #expect(try await system.compose("status").status == 3)
            #expect(try await system.compose("down").status == 0)
            system.close()
        }

        @Test func `secrets are private, one file for each service, and no process has another one's`() async throws {
            let system = try await LatchkeySystem.started()
            var owners: [String: Set<String>] = [:]
            for service in ["gateway", "verification", "identity", "notifier"] {
                let path = "\(system.state)/secrets/\(service).env"
                let attributes = try FileManager.default.attributesOfItem(atPath: path)
                #expect((attributes[.posixPermissions] as? Int) == 0o600)
                for line in try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n") {
                    owners[String(line.split(separator: "=", maxSplits: 1)[1]), default: []].insert(service)
                }
            }
            for member in try await system.members() where member.name != "postgres" {
                let pid = try #require(member.pid)
                let environment = try Data(contentsOf: URL(fileURLWithPath: "/proc/\(pid)/environ"))
                let text = String(decoding: environment, as: UTF8.self)
                for (secret, services) in owners where text.contains(secret) { #expect(services.contains(member.name)) }
                #expect(owners.contains { $0.value == [member.name] && text.contains($0.key) })
            }
            try await system.end()
        }

        @Test func `a service that ends is started again`() async throws {
            let system = try await LatchkeySystem.started()
            for name in ["gateway", "verification", "identity", "notifier", "postgres"] {
                let before = try #require(try await system.member(name))
                try await system.kill(name)
                try await eventually("\(name) runs again") {
                    let now = try await system.member(name)
                    return now?.state == "running" && now?.pid != before.pid && now?.restarts == before.restarts + 1
                }
            }
            try await eventually("everything is ready again") { try await system.compose("status").status == 0 }
            try await system.end()
        }

        @Test func `nothing outlives a supervisor that is killed, and the next up finds everything`() async throws {
            let system = try await LatchkeySystem.started()
            let visitor = Visitor(system)
            #expect(try await visitor.send().isSuccess)
            let code = try await visitor.code()
            let pids = try await system.members().compactMap(\.pid)
            let status = try JSON.parse(String(contentsOfFile: system.state + "/status.json", encoding: .utf8))
            kill(Int32(try #require(status["pid"]?.int64)), SIGKILL)
            try await eventually("every process has ended") { pids.allSatisfy { kill($0, 0) != 0 } }
            #expect(try await system.compose("status").status == 3)
            try await system.up()
            #expect(try await visitor.confirm(code).isSuccess)
            try await system.end()
        }

        @Test func `a taken port is one line`() async throws {
            let running = try await LatchkeySystem.started()
            let other = try LatchkeySystem()
            defer { other.discard() }
            let result = try await other.compose("up", ["-d"], settings: ["LATCHKEY_PORT": "\(running.port)"])
            #expect(result.status == 1)
            #expect(result.errors == "latchkey: port \(running.port) is taken; choose another one with LATCHKEY_PORT\n")
            #expect(!FileManager.default.fileExists(atPath: other.state))
            try await running.end()
        }

        @Test func `half a configuration is reported in the words of the service`() async throws {
            let system = try LatchkeySystem()
            defer { system.discard() }
            let result = try await system.compose("up", ["-d"], settings: ["RESEND_API_KEY": "re_123"])
            #expect(result.status == 1)
            #expect(result.errors.contains("ADMIN_EMAIL"))
            #expect(result.errors.split(separator: "\n").count == 1)
            #expect(try await system.compose("status").status == 3)
        }

        @Test func `no Swift and wrong words are one line each`() async throws {
            let system = try LatchkeySystem()
            defer { system.discard() }
            let noSwift = try await system.compose(
                "up", ["-d"], settings: ["LATCHKEY_BIN": nil, "LATCHKEY_SWIFT": "/nowhere/swift"])
            #expect(noSwift.status == 1)
            #expect(noSwift.errors == "latchkey: there is no Swift at LATCHKEY_SWIFT (/nowhere/swift)\n")
            let scale = try await system.compose("up", ["--scale", "postgres=2"])
            #expect(scale.status == 2)
            #expect(scale.errors.contains("there is no service 'postgres'"))
            let code = try await system.compose("code", ["nobody@example.com"])
            #expect(code.status == 1)
            #expect(code.output.isEmpty)
            #expect(code.errors == "latchkey: no code was delivered to nobody@example.com\n")
        }

        @Test func `a state folder with any name, however long, will do`() async throws {
            let outer = try LatchkeySystem()
            defer { outer.discard() }
            let name = "it's \"long\", \\ " + String(repeating: "x", count: 120)
            let system = try LatchkeySystem(["LATCHKEY_STATE": "\(outer.folder)/\(name)"])
            defer { system.discard() }
            let up = try await system.compose("up", ["-d"])
            #expect(up.status == 0, "\(up)")
            #expect(await system.isReady())
            #expect(try await system.compose("down").status == 0)
        }

        @Test(.enabled(if: getuid() == 0, "needs root"))
        func `as root it runs below a folder that only root can enter`() async throws {
            let outer = try LatchkeySystem()
            defer { outer.discard() }
            chmod(outer.folder, 0o700)
            let system = try LatchkeySystem(["LATCHKEY_STATE": outer.folder + "/state"])
            defer { system.discard() }
            let up = try await system.compose("up", ["-d"])
            #expect(up.status == 0, "\(up)")
            #expect(try await system.compose("down").status == 0)
        }

        @Test(.enabled(if: getuid() == 0, "needs root, to become somebody else"))
        func `it runs as an ordinary user`() async throws {
            let system = try LatchkeySystem()
            defer { system.discard() }
            let user = try #require(getpwnam("nobody"))
            chown(system.folder, user.pointee.pw_uid, user.pointee.pw_gid)
            // The user must be able to read the sources and to run the executables, wherever they were built.
            let copy = system.folder + "/bin"
            try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
            for name in ["gateway", "verification", "identity", "notifier"] {
                try FileManager.default.copyItem(atPath: "\(LatchkeySystem.executables)/\(name)", toPath: "\(copy)/\(name)")
            }
            for bundle in try FileManager.default.contentsOfDirectory(atPath: LatchkeySystem.executables)
            where bundle.hasSuffix(".resources") {
                try FileManager.default.copyItem(atPath: "\(LatchkeySystem.executables)/\(bundle)", toPath: "\(copy)/\(bundle)")
            }
            try FileManager.default.copyItem(atPath: LatchkeySystem.repository + "/compose", toPath: system.folder + "/compose")

            func asNobody(_ command: String, _ arguments: [String]) async throws -> Program.Result {
                let words = [
                    "--reuid", "nobody", "--regid", "\(user.pointee.pw_gid)", "--clear-groups",
                    "\(system.folder)/compose/\(command)",
                ]
                let environment = system.environment.merging(["LATCHKEY_BIN": copy, "HOME": "/"]) { $1 }
                return try await Program.run("/usr/bin/setpriv", words + arguments, environment: environment, directory: "/")
            }
            let up = try await asNobody("up", ["-d"])
            #expect(up.status == 0, "\(up)")
            let status = try await asNobody("status", [])
            #expect(status.status == 0, "\(status)")
            #expect(try await asNobody("down", []).status == 0)
        }
    }
}
