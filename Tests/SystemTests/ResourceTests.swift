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
    }
}
