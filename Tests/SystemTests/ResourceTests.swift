import Foundation
import Testing

extension SystemTests {
    /// What an idle Latchkey costs.
    @Suite struct ResourceTests {
        @Test func `each idle service stays below 60 MiB, and a start takes seconds`() async throws {
            let system = try await LatchkeySystem.started()
            let visitor = Visitor(system)
            #expect(try await visitor.send().isSuccess)
            #expect(try await visitor.confirm(visitor.code()).isSuccess)
            for member in try await system.members() where member.name != "postgres" {
                let status = try String(contentsOfFile: "/proc/\(#require(member.pid))/status", encoding: .utf8)
                let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
                let kibibytes = try #require(Int(line.filter(\.isNumber)))
                print("\(member.name): \(kibibytes / 1_024) MiB resident")
                #expect(kibibytes < 60 * 1_024, "\(member.name) takes \(kibibytes / 1_024) MiB")
            }

            try await system.down()
            let start = ContinuousClock.now
            try await system.up()
            let took = ContinuousClock.now - start
            print("start to ready: \(took)")
            // Two seconds are wanted; machines that run tests have other things to do.
            #expect(took < .seconds(8))
            try await system.end()
        }

        /// A hash takes 19 MiB, 4,864 pages. Memory that is new each time takes nearly as long as the hash.
        @Test func `passwords are hashed in memory that is there`() async throws {
            let system = try await LatchkeySystem.started()
            let visitor = Visitor(system)
            #expect(try await visitor.register().status == 201)
            #expect(try await visitor.logIn().isSuccess)
            let identity = try #require(try await system.member("identity")?.pid)
            let before = try Self.pageFaults(of: identity)
            for _ in 0..<4 { #expect(try await visitor.logIn().isSuccess) }
            let faults = try Self.pageFaults(of: identity) - before
            print("page faults of four logins: \(faults)")
            #expect(faults < 4_864)
            try await system.end()
        }

        /// Those that needed no disk (proc(5), `minflt`).
        private static func pageFaults(of process: Int32) throws -> Int {
            let line = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
            let fields = try #require(line.split(separator: ")").last).split(separator: " ")
            return try #require(Int(fields[7]))
        }
    }
}
