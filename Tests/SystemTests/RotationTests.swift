import Foundation
import HTTP
import JSON
import Synchronization
import Testing

extension SystemTests {
    /// Every secret is replaced while people sign up, verify and sign in: nobody notices.
    @Suite struct RotationTests {
        @Test func `no request fails while one secret after the other is replaced`() async throws {
            let system = try await LatchkeySystem.started(
                ["IDENTITY_DAILY_FIGURES": "beginning"], scale: ["gateway": 2, "identity": 2, "verification": 2, "notifier": 2])
            let load = Load(system)
            let settled = try await load.newcomer()

            try await load.beside {
                for secret in [
                    "LATCHKEY_LOG_MAC_KEYS", "IDENTITY_SECRET", "NOTIFIER_SECRET", "GATEWAY_SECRET", "VERIFICATION_SECRET",
                ] {
                    // Codes of the load are entered at once.
                    let result = try await system.compose("rotate", [secret, "--keep", "20"])
                    #expect(result.status == 0, "\(secret): \(result)")
                    #expect(result.output.contains("\(secret) is replaced"))
                }
                var keys: [String] = []
                for words in [
                    "identity keys rotate", "identity sealing rotate", "notifier sealing rotate", "identity keys rotate",
                ] {
                    let result = try await system.compose("run", words.split(separator: " ").map(String.init))
                    #expect(result.status == 0, "\(words): \(result)")
                    if words.contains("sealing") { keys += result.output.split(separator: " ").prefix(1).map(String.init) }
                }
                for key in keys {
                    try await eventually("somebody seals to \(key)") { try await system.holds("1.\(key).") }
                }
                let before = load.count
                try await eventually("people go on") { load.count > before + 8 }
            }
            #expect(load.failures == [])
            #expect(load.count > 20)
            try await eventually("every sign-up is counted once") {
                try await system.sql("SELECT sum(sign_ups) FROM daily.figures") == ["\(load.count)"]
            }

            // What was made under what is gone now.
            #expect(try await settled.logIn().status == 200)
            let newcomer = try await load.newcomer()
            #expect(try await newcomer.logIn().status == 200)

            let keys = try await system.compose("run", ["identity", "mac"]).output.split(separator: "\n").dropFirst()
            #expect(keys.count == 1 + 3 * 12)
            #expect(keys.allSatisfy { $0.hasSuffix(" 2") }, "\(keys)")
            for service in ["gateway", "verification", "identity", "notifier"] {
                let text = try String(contentsOfFile: "\(system.state)/secrets/\(service).env", encoding: .utf8)
                #expect(!text.contains("_ACCEPTED"))
                #expect(text.contains("LATCHKEY_LOG_MAC_KEYS=1:"))
            }
            try await system.end()
        }

        @Test func `keys that come back out of a backup open nothing of who was erased since`() async throws {
            let system = try await LatchkeySystem.started(scale: ["gateway": 2])
            let load = Load(system)
            let (stays, goes) = (try await load.newcomer(), try await load.newcomer())
            let file = system.folder + "/keys"
            let keys = ["identity", "keys"]
            let written = try await system.compose("run", keys + ["backup", file])
            #expect(written.output == "2 data keys, and those that sign tokens, are in \(file)\n")
            let access = try #require(try await goes.logIn().data("accessToken"))
            let erase: JSON = ["password": .string(Visitor.password)]
            #expect(try await goes.ask(.delete, "/api/auth/me", erase, token: access).status == 200)

            _ = try await system.sql("TRUNCATE identity_keys.data_keys")
            let restored = try await system.compose("run", keys + ["restore", file])
            #expect(restored.output.hasPrefix("2 data keys were read"), "\(restored)")
            // At once, or when Identity has projected all that the log holds.
            try await eventually("nothing is held back") {
                try await system.sql("SELECT count(*) FROM identity_restored.data_keys") == ["0"]
            }
            #expect(try await stays.logIn().status == 200)
            #expect(try await goes.logIn().error == "INVALID_CREDENTIALS")
            #expect(try await system.sql("SELECT count(*) FROM identity_keys.data_keys WHERE wrapped IS NOT NULL") == ["1"])
            try await system.end()
        }

        @Test func `a MAC key is not introduced before every process holds it`() async throws {
            let system = try await LatchkeySystem.started()
            let file = system.state + "/secrets/identity.env"
            let text = try String(contentsOfFile: file, encoding: .utf8)
            let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("LATCHKEY_LOG_MAC_KEYS=") })
            let longer = String(line.dropFirst("LATCHKEY_LOG_MAC_KEYS=".count)) + ",2:" + String(repeating: "ab", count: 32)
            let refused = try await system.compose(
                "run", ["identity", "mac", "rotate"], settings: ["LATCHKEY_LOG_MAC_KEYS": longer])
            #expect(refused.status == 1)
            for service in ["gateway", "verification", "identity", "notifier"] {
                #expect(refused.output.contains("\(service): 1 of 1 do not hold MAC key 2"))
            }
            let without = try await system.compose("run", ["identity", "mac", "rotate"])
            #expect(without.status == 1)
            #expect(without.output == "MAC key 2 is not among LATCHKEY_LOG_MAC_KEYS\n")
            let visitor = Visitor(system)
            #expect(try await visitor.send().isSuccess)
            #expect(try await visitor.confirm(visitor.code()).isSuccess)
            try await system.end()
        }
    }
}

extension LatchkeySystem {
    /// Whether a record of the log holds this text.
    fileprivate func holds(_ text: String) async throws -> Bool {
        try await sql(
            """
            SELECT EXISTS (
                SELECT FROM (SELECT value FROM log.passing_records UNION ALL SELECT value FROM log.lasting_records) AS record
                WHERE position(convert_to('\(text)', 'UTF8') IN value) > 0)
            """) == ["t"]
    }
}

/// People who use the system all the time, by way of whichever gateway takes their request: each request has a key under which it
/// may be sent again.
private final class Load: Sendable {
    private let system: LatchkeySystem
    private let state = Mutex<(count: Int, failures: [String])>((0, []))

    init(_ system: LatchkeySystem) { self.system = system }

    var count: Int { state.withLock { $0.count } }
    var failures: [String] { state.withLock { $0.failures } }

    /// Runs people beside `body`, and ends when it does.
    func beside(_ body: () async throws -> Void) async throws {
        let isOver = Flag()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    while !isOver.isRaised { _ = try await self.newcomer() }
                }
            }
            defer { isOver.raise() }
            try await eventually("somebody is through") { self.count >= 4 }
            try await body()
            isOver.raise()
            try await group.waitForAll()
        }
    }

    /// Somebody who signs up, verifies their address and signs in.
    func newcomer() async throws -> Visitor {
        let visitor = Visitor(system)
        let credentials: JSON = ["email": .string(visitor.email), "password": .string(Visitor.password)]
        let token = await post(visitor, "/api/auth/register", credentials, 201)?.data("accessToken")
        let address: JSON = ["channel": "email", "identifier": .string(visitor.email), "purpose": "email_verification"]
        if await post(visitor, "/api/verification/send", address, 200) != nil {
            let code = try await visitor.code()
            let entered: JSON = [
                "identifier": .string(visitor.email), "code": .string(code), "purpose": "email_verification",
            ]
            _ = await post(visitor, "/api/verification/confirm", entered, 200)
        }
        _ = await post(visitor, "/api/auth/login", credentials, 200)
        if let token { await expect(visitor, "me", 200) { try await $0.ask(.get, "/api/auth/me", token: token) } }
        state.withLock { $0.count += 1 }
        return visitor
    }

    private func post(_ visitor: Visitor, _ path: String, _ body: JSON, _ status: Int) async -> Visitor.Answer? {
        let key = UUID().uuidString
        return await expect(visitor, path, status) {
            try await $0.post(path, body, headers: ["Idempotency-Key": key])
        }
    }

    /// As something in front of two gateways does: those that are not ready get nothing, and where a connection is not made, or
    /// breaks, the request is sent again.
    @discardableResult
    private func expect(
        _ visitor: Visitor, _ what: String, _ status: Int, _ ask: (Visitor) async throws -> Visitor.Answer
    ) async -> Visitor.Answer? {
        var visitor = visitor
        for attempt in 1...4 {
            visitor.gateway = await readyGateway()
            do {
                let answer = try await ask(visitor)
                if answer.status == status { return answer }
                state.withLock { $0.failures.append("\(visitor.email) \(what): \(answer.status) \(answer.error ?? "")") }
                return nil
            } catch {
                if attempt == 4 { state.withLock { $0.failures.append("\(visitor.email) \(what): \(error)") } }
            }
        }
        return nil
    }

    /// One that says it can work; if none does, any.
    private func readyGateway() async -> Int {
        let first = Int.random(in: 1...2)
        for number in [first, 3 - first] {
            if let answer = try? await system.gateway(number).send(.get("/readyz")), answer.status == .ok { return number }
        }
        return first
    }
}
