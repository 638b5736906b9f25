import Foundation
import HTTP
import JSON
import Testing

extension SystemTests {
    /// A backup is worth what comes back out of it.
    @Suite struct RestoreTests {
        @Test func `everything comes back in another folder as it was at the backup, and goes on`() async throws {
            let system = try await LatchkeySystem.started()
            let stays = Visitor(system)
            let session = try await stays.register()
            let refresh = try #require(session.data("refreshToken"))
            let access = try #require(session.data("accessToken"))
            #expect(try await stays.send().isSuccess)
            let code = try await stays.code()
            #expect(try await stays.confirm(code).isSuccess)
            let before = try await stays.ask(.get, "/api/auth/me", token: access)

            let dump = ["pg_dump", "--clean", "--if-exists", "--exclude-schema=*_sealing"]
            let backup = try await system.compose("postgres", dump)
            #expect(backup.status == 0)
            let file = system.folder + "/backup.sql"
            try backup.output.write(toFile: file, atomically: true, encoding: .utf8)
            let late = Visitor(system)
            #expect(try await late.register().status == 201)
            try await system.down()

            let other = try LatchkeySystem()
            try FileManager.default.createDirectory(atPath: other.state, withIntermediateDirectories: true)
            try FileManager.default.copyItem(atPath: system.state + "/secrets", toPath: other.state + "/secrets")
            try await other.up(scale: ["gateway": 0, "verification": 0, "identity": 0, "notifier": 0])
            let restored = try await other.compose("postgres", ["psql", "-q", "-1", "-v", "ON_ERROR_STOP=1", "-f", file])
            #expect(restored.status == 0, "\(restored)")
            try await other.down()
            try await other.up()

            let back = stays.moved(to: other)
            let (after, again) = (try await back.ask(.get, "/api/auth/me", token: access), try await back.refresh(refresh))
            #expect(after.status == 200 && after.body == before.body)
            #expect(again.status == 200)
            #expect(try await back.confirm(code).error == "INVALID_OTP")
            #expect(try await back.logIn().status == 200)
            // Their address opens, and mail goes there.
            let reset: JSON = ["resetToken": .string(try await back.resetToken()), "newPassword": "Another-Horse-8"]
            #expect(try await back.ask(.post, "/api/auth/reset-password", reset).status == 200)
            #expect(try await back.logIn("Another-Horse-8").status == 200)

            #expect(try await late.moved(to: other).logIn().error == "INVALID_CREDENTIALS")
            #expect(try await late.moved(to: other).register().status == 201)
            for arguments in [["rebuild", "--verify"], ["audit", "prove"]] {
                let result = try await other.operate("identity", arguments)
                #expect(result.status == 0, "\(result)")
            }
            try await other.end()
            system.close()
        }
    }
}

extension Visitor {
    fileprivate func moved(to other: LatchkeySystem) -> Visitor {
        var visitor = self
        visitor.system = other
        return visitor
    }
}
