import HTTP
import JSON

/// How one client of a storm reaches the gateways: a connection to each, and the other one where the first is away.
struct StormLine: Sendable {
    let outbox: Outbox
    private let gateways: [SocketClient]

    init(_ system: LatchkeySystem, gateways count: Int, outbox: Outbox) {
        self.outbox = outbox
        // Longer than any gateway takes for an answer.
        gateways = (1...count).map { system.gateway($0, timeout: .seconds(20)) }
    }

    /// The answer; `nil` where nobody can tell what came of the request.
    ///
    /// - Parameter gateway: which one is asked first; `nil`: any.
    func ask(
        _ method: HTTPMethod, _ path: String, _ body: JSON? = nil, token: String? = nil, gateway: Int? = nil
    ) async -> Visitor.Answer? {
        // From anywhere: the limits of addresses are not what is tried.
        let address = "10.\(Int.random(in: 0...255)).\(Int.random(in: 0...255)).\(Int.random(in: 1...254))"
        var headers: Headers = ["X-Forwarded-For": address, "X-Client-Type": "mobile"]
        if let token { headers["Authorization"] = "Bearer \(token)" }
        if body != nil { headers["Content-Type"] = "application/json" }
        let request = ClientRequest(method, path, headers: headers, body: body.map { $0.serialized() } ?? [])
        let first = gateway ?? Int.random(in: 0..<gateways.count)
        for number in 0..<gateways.count {
            do {
                let response = try await gateways[(first + number) % gateways.count].send(request)
                let status = response.status.rawValue
                if status == 503 || status == 504 { return nil }
                return Visitor.Answer(status: status, body: try? JSON.parse(response.body), headers: response.headers)
            } catch ClientError.cannotConnect {
                // Nothing was asked yet.
                continue
            } catch {
                return nil
            }
        }
        return nil
    }

    /// The same request at once over all gateways.
    func askAll(_ count: Int, _ method: HTTPMethod, _ path: String, _ body: JSON? = nil, token: String? = nil) async
        -> [Visitor.Answer?]
    {
        await withTaskGroup(of: Visitor.Answer?.self) { group in
            for number in 0..<count {
                group.addTask { await ask(method, path, body, token: token, gateway: number % gateways.count) }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }
}
