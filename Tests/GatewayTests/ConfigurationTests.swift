import HTTP
import Identifiers
import Runtime
import Testing

@testable import GatewayService

@Suite struct `The configuration of a gateway` {
    private let secret = String(repeating: "ab", count: 32)

    private func environment(_ changes: [String: String?] = [:]) -> Environment {
        var variables: [String: String] = [
            "LATCHKEY_DATABASE_URL": "dbname=latchkey", "LATCHKEY_LOG_MAC_KEYS": "1:\(secret)", "LATCHKEY_ROUTING_SECRET": secret,
            "GATEWAY_SECRET": secret,
        ]
        for (name, value) in changes { variables[name] = value }
        return Environment(variables)
    }

    private func load(_ changes: [String: String?] = [:]) throws -> GatewayConfiguration {
        try GatewayConfiguration.load(from: environment(changes)).configuration
    }

    private func faults(_ changes: [String: String?]) -> [String] {
        do {
            _ = try GatewayConfiguration.load(from: environment(changes))
            return []
        } catch {
            return error.faults.map(\.variable)
        }
    }

    @Test func `has the contract's defaults`() throws {
        let configuration = try load()
        #expect(configuration.port == 3001)
        #expect(configuration.rates == Dictionary(uniqueKeysWithValues: Limit.allCases.map { ($0, $0.standard) }))
        #expect(configuration.origins.isEmpty && configuration.trustedProxies.isEmpty && configuration.tls == nil)
        #expect(!configuration.channels.hasSMS)
        #expect(configuration.common.environment == .production)
    }

    @Test func `changes limits, and switches them off`() throws {
        let configuration = try load(["LIMIT_SEND": "3/10s", "LIMIT_CONFIRM": "off"])
        #expect(configuration.rates[.send] == Rate(3, per: .seconds(10)))
        #expect(configuration.rates[.confirm] == nil)
        #expect(configuration.rates[.forgotPassword] == Limit.forgotPassword.standard)
    }

    @Test func `listens at PORT where LATCHKEY_PORT is not set`() throws {
        #expect(try load(["PORT": "8080"]).port == 8080)
        #expect(try load(["PORT": "8080", "LATCHKEY_PORT": "9090"]).port == 9090)
    }

    @Test func `knows proxies, origins and files`() throws {
        let configuration = try load([
            "TRUSTED_PROXIES": "10.0.0.0/8, ::1", "CORS_ORIGINS": "https://app.example.com,http://localhost:8081",
            "TLS_CERTIFICATE": "/c.pem", "TLS_KEY": "/k.pem", "PHONE_REGION": "us", "SMS_ENABLED": "true",
        ])
        #expect(configuration.trustedProxies == ["10.0.0.0/8", "::1"].compactMap { AddressBlock($0) })
        #expect(configuration.origins == ["https://app.example.com", "http://localhost:8081"])
        #expect(configuration.tls?.certificateFile == "/c.pem")
        #expect(configuration.tls?.keyFile == "/k.pem")
        #expect(configuration.channels.region?.code == "US")
        #expect(configuration.channels.hasSMS)
    }

    @Test func `reports everything that is wrong at once`() {
        let wrong = faults([
            "GATEWAY_SECRET": nil, "LATCHKEY_ROUTING_SECRET": "short", "LATCHKEY_PORT": "x", "TRUSTED_PROXIES": "everybody",
            "CORS_ORIGINS": "*", "TLS_KEY": "/k.pem", "LIMIT_SEND": "20 per hour", "LIMIT_CONFIRM": "20000/1h",
            "PHONE_REGION": "XX",
            "MAX_IN_FLIGHT": "0",
        ])
        #expect(
            Set(wrong) == [
                "GATEWAY_SECRET", "LATCHKEY_ROUTING_SECRET", "LATCHKEY_PORT", "TRUSTED_PROXIES", "CORS_ORIGINS",
                "TLS_CERTIFICATE",
                "LIMIT_SEND", "LIMIT_CONFIRM", "PHONE_REGION", "MAX_IN_FLIGHT",
            ])
    }

    @Test(arguments: ["app.example.com", "https://app.example.com/", "HTTPS://app.example.com", "null", "https://a.example,"])
    func `takes no origin that no browser sends`(origin: String) {
        #expect(faults(["CORS_ORIGINS": origin]) == ["CORS_ORIGINS"])
    }
}
