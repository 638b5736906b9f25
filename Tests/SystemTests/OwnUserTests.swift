import HTTP
import JSON
import Testing

extension SystemTests {
    /// What users see of themselves, at another gateway than the one that changed it.
    @Suite struct OwnUserTests {
        private static let shared = Shared(scale: ["gateway": 2, "identity": 2])

        @Test func `what was answered at one gateway is seen at once at the other, a thousand times`() async throws {
            let system = try await Self.shared.system()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<20 {
                    let visitor = Visitor(system)
                    group.addTask { try await Self.change(visitor, times: 50) }
                }
                try await group.waitForAll()
            }
        }

        private static func change(_ visitor: Visitor, times: Int) async throws {
            let access = try #require(try await visitor.register().data("accessToken"))
            func at(_ gateway: Int) -> Visitor {
                var visitor = visitor
                visitor.gateway = gateway
                return visitor
            }
            func user(at gateway: Int) async throws -> JSON? {
                try await at(gateway).ask(.get, "/api/auth/me", token: access).body?["data"]?["user"]
            }
            for number in 1...times {
                let (here, there) = (number % 2 + 1, 2 - number % 2)
                // What is remembered there is of before.
                #expect(try await user(at: there)?["profile"]?["displayName"]?.string == (number == 1 ? nil : "\(number - 1)"))
                let changed = try await at(here).ask(.patch, "/api/auth/me", ["displayName": .string("\(number)")], token: access)
                #expect(changed.status == 200)
                #expect(try await user(at: there)?["profile"]?["displayName"]?.string == "\(number)")
            }

            #expect(try await user(at: 2)?["emailVerifiedAt"]?.isNull == true)
            #expect(try await at(1).send().isSuccess)
            #expect(try await at(1).confirm(visitor.code()).isSuccess)
            #expect(try await user(at: 2)?["emailVerifiedAt"]?.string != nil)

            let erased = try await at(1).ask(.delete, "/api/auth/me", ["password": .string(Visitor.password)], token: access)
            #expect(erased.status == 200)
            #expect(try await at(2).me(access) == 401)
        }
    }
}
