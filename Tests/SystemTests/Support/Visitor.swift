import HTTP
import JSON
import Synchronization
import Testing

/// One client of the API with an address and an e-mail account of its own, so that nobody uses up another one's limits.
struct Visitor: Sendable {
    struct Answer: Sendable, Equatable {
        var status: Int
        var body: JSON?
        var headers: Headers

        /// The code of a failure; `nil` for a success.
        var error: String? { body?["error"]?["code"]?.string }
        var isSuccess: Bool { status == 200 && body?["success"]?.bool == true }
    }

    var system: LatchkeySystem
    let email: String
    let address: String
    /// Which gateway it talks to, from 1.
    var gateway = 1

    private static let count = Mutex(0)

    init(_ system: LatchkeySystem, gateway: Int = 1) {
        let number = Self.count.withLock { count in
            count += 1
            return count
        }
        self.system = system
        self.gateway = gateway
        email = "visitor\(number)@latchkey-test.example"
        address = "198.51.\(100 + number / 250).\(number % 250 + 1)"
    }

    func send(purpose: String = "email_verification", to email: String? = nil, headers: Headers = [:]) async throws -> Answer {
        let body: JSON = ["channel": "email", "identifier": .string(email ?? self.email), "purpose": .string(purpose)]
        return try await post("/api/verification/send", body, headers: headers)
    }

    func confirm(_ code: String, to email: String? = nil, headers: Headers = [:]) async throws -> Answer {
        let body: JSON = ["identifier": .string(email ?? self.email), "code": .string(code), "purpose": "email_verification"]
        return try await post("/api/verification/confirm", body, headers: headers)
    }

    func post(_ path: String, _ body: JSON, headers: Headers = [:]) async throws -> Answer {
        try await post(path, text: body.description, headers: headers)
    }

    func post(_ path: String, text: String, headers: Headers = [:]) async throws -> Answer {
        var headers = headers
        headers.setDefault("X-Forwarded-For", address)
        headers.setDefault("X-Client-Type", "mobile")
        let response = try await system.gateway(gateway).send(.post(path, json: text, headers: headers))
        return Answer(status: response.status.rawValue, body: try? JSON.parse(response.body), headers: response.headers)
    }

    /// The code that the last delivery brought, after so many deliveries.
    func code(after count: Int = 1) async throws -> String {
        var deliveries: [JSON] = []
        try await eventually("\(count) codes are delivered to \(email)") {
            deliveries = try system.deliveries(to: email)
            return deliveries.count >= count
        }
        return try #require(deliveries.last?["code"]?.string)
    }

    /// Another code than this one.
    static func wrong(_ code: String) -> String { code == "000000" ? "000001" : "000000" }
}
