import EventSchema
import HTTP
import Runtime
import Synchronization
import Testing

@testable import GatewayService

@Suite struct `Limits of a client` {
    private func rate(_ count: Int) -> Rate { Rate(count, per: .seconds(3_600)) }

    @Test func `refuse what is over, and say when the next would pass`() async {
        let gateway = TestGateway(rates: [.send: Rate(2, per: .seconds(900))])
        #expect(await gateway.send(TestGateway.send).status == .ok)
        gateway.quotas.now.withLock { $0 += 60_500 }
        #expect(await gateway.send(TestGateway.send).status == .ok)
        gateway.quotas.now.withLock { $0 += 1_000 }
        let refused = await gateway.send(TestGateway.send)
        #expect(refused.status == .tooManyRequests)
        #expect(refused.code == "RATE_LIMITED")
        // 900 s after the first one, 61.5 s of which are over.
        #expect(refused.headers["Retry-After"] == "839")
        #expect(refused.message == "Too many requests. Try again in 14 minutes.")
        #expect(gateway.path.commands.count == 2)

        gateway.quotas.now.withLock { $0 += 838_499 }
        let last = await gateway.send(TestGateway.send)
        #expect(last.headers["Retry-After"] == "1")
        #expect(last.message == "Too many requests. Try again in 1 minute.")
        gateway.quotas.now.withLock { $0 += 1 }
        #expect(await gateway.send(TestGateway.send).status == .ok)
    }

    @Test func `count wrong requests and never refused ones`() async {
        let gateway = TestGateway(rates: [.confirm: rate(2)])
        #expect(await gateway.confirm("{}").status == .badRequest)
        #expect(await gateway.confirm("[]").status == .badRequest)
        for _ in 0..<3 { #expect(await gateway.confirm("{}").status == .tooManyRequests) }
        #expect(gateway.quotas.count == 2)
    }

    @Test func `keep what they refuse from the budget of whom it is about`() async {
        let gateway = TestGateway(rates: [.send: rate(2), .forgotPassword: rate(2), .dailySends: rate(5)])
        // Only a request with nothing wrong takes of it.
        #expect(await gateway.send("{}").status == .badRequest)
        #expect(gateway.quotas.count == 1)
        #expect(await gateway.send(TestGateway.send).status == .ok)
        #expect(gateway.quotas.count == 3)
        for _ in 0..<4 { #expect(await gateway.send(TestGateway.send).status == .tooManyRequests) }
        #expect(await gateway.send("{}").status == .tooManyRequests)
        #expect(gateway.quotas.count == 3)

        let forgot = #"{"email":"user@example.com"}"#
        #expect(await gateway.post("/auth/forgot-password", "{}").status == .badRequest)
        #expect(gateway.quotas.count == 4)
        #expect(await gateway.post("/auth/forgot-password", forgot).status == .ok)
        #expect(gateway.quotas.count == 6)
        for body in [forgot, "{}"] {
            #expect(await gateway.post("/auth/forgot-password", body).status == .tooManyRequests)
        }
        #expect(gateway.quotas.count == 6)
    }

    @Test func `do not count what never reached the endpoint`() async {
        let gateway = TestGateway(rates: [.send: rate(1)])
        _ = await gateway.send("{")
        _ = await gateway.send(TestGateway.send, headers: ["Content-Type": "text/plain"])
        _ = await gateway.send(TestGateway.send + String(repeating: " ", count: 65_536))
        _ = await gateway.client.send(.get("/api/verification/send"))
        #expect(gateway.quotas.count == 0)
        #expect(await gateway.send(TestGateway.send).status == .ok)
    }

    @Test func `of resets are their own, for sends as for confirmations`() async {
        let gateway = TestGateway(rates: [.send: rate(1), .forgotPassword: rate(1), .confirm: rate(1), .verifyResetCode: rate(1)])
        let confirmReset = #"{"identifier":"user@example.com","code":"123456","purpose":"password_reset"}"#
        for (first, second) in [(TestGateway.send, TestGateway.reset)] {
            #expect(await gateway.send(first).status == .ok)
            #expect(await gateway.send(second).status == .ok)
            #expect(await gateway.send(first).status == .tooManyRequests)
            #expect(await gateway.send(second).status == .tooManyRequests)
        }
        #expect(await gateway.confirm(TestGateway.confirm).status == .ok)
        #expect(await gateway.confirm(confirmReset).status == .ok)
        #expect(await gateway.confirm(TestGateway.confirm).status == .tooManyRequests)
        #expect(await gateway.confirm(confirmReset).status == .tooManyRequests)
    }

    @Test func `that are switched off refuse nothing`() async {
        let gateway = TestGateway(rates: [:])
        for _ in 0..<40 { #expect(await gateway.send(TestGateway.send).status == .ok) }
        #expect(gateway.quotas.count == 0)
    }

    @Test func `are what the contract says`() {
        let standard = Dictionary(uniqueKeysWithValues: Limit.allCases.map { ($0.variable, $0.standard.description) })
        #expect(
            standard == [
                "LIMIT_FORGOT_PASSWORD": "5/1h", "LIMIT_VERIFY_RESET_CODE": "10/1h", "LIMIT_SEND": "20/15m",
                "LIMIT_CONFIRM": "30/15m", "LIMIT_DAILY_SENDS": "20/1d", "LIMIT_RESET_PASSWORD": "10/1h",
                "LIMIT_SIGN_UP": "20/1h", "LIMIT_ACCOUNT_EXISTS": "10/1h", "LIMIT_LOGIN": "30/15m", "LIMIT_REFRESH": "120/1m",
            ])
    }

    /// Peer, lines of X-Forwarded-For → the same client or not.
    @Test func `know a client behind trusted proxies`() async throws {
        let proxies = try ["10.0.0.0/8", "fd00::/8"].map { try #require(AddressBlock($0)) }
        func budget(_ peer: String, _ forwarded: [String]) async throws -> (TestGateway, Headers) {
            var headers: Headers = [:]
            for line in forwarded { headers.append("X-Forwarded-For", line) }
            return (TestGateway(rates: [.send: rate(100)], proxies: proxies, peer: try #require(IPAddress(peer))), headers)
        }
        let cases: [(peer: String, forwarded: [String], client: String)] = [
            ("203.0.113.5", ["198.51.100.1"], "203.0.113.5"),
            ("10.0.0.1", [], "10.0.0.1"),
            ("10.0.0.1", ["198.51.100.1"], "198.51.100.1"),
            ("10.0.0.1", ["192.0.2.1, 198.51.100.1"], "198.51.100.1"),
            ("10.0.0.1", ["192.0.2.1", "198.51.100.1, 10.9.9.9"], "198.51.100.1"),
            ("10.0.0.1", ["198.51.100.1, nonsense, 10.9.9.9"], "10.9.9.9"),
            ("::ffff:10.0.0.1", ["::ffff:198.51.100.1"], "198.51.100.1"),
            ("fd00::1", ["2001:db8:1:2:3:4:5:6"], "2001:db8:1:2:3:4:5:6"),
        ]
        for (peer, forwarded, client) in cases {
            let (gateway, headers) = try await budget(peer, forwarded)
            _ = await gateway.send(TestGateway.send, headers: headers)
            #expect(gateway.path.commands.first?.client.address == IPAddress(client), "\(peer) \(forwarded)")
        }
    }

    @Test func `take an IPv6 network of 64 bits for one client`() async throws {
        let quotas = ModelQuotas()
        func status(_ peer: String) async throws -> HTTPStatus {
            let gateway = TestGateway(
                rates: [.send: rate(1)], counter: quotas, peer: try #require(IPAddress(peer)))
            return await gateway.send(TestGateway.send).status
        }
        #expect(try await status("2001:db8:0:1::1") == .ok)
        #expect(try await status("2001:db8:0:1:ffff::2") == .tooManyRequests)
        #expect(try await status("2001:db8:0:2::1") == .ok)
        #expect(try await status("192.0.2.1") == .ok)
        #expect(try await status("::ffff:192.0.2.1") == .tooManyRequests)
        #expect(try await status("192.0.2.2") == .ok)
    }
}
