extension Router {
    /// Adds what operators and orchestrators ask a service: `/healthz` (the process answers), `/readyz` (it can do its work;
    /// else 503 with the reasons) and `/metrics` (Prometheus text). They are answered when the service is overloaded, too.
    ///
    /// - Parameters:
    ///   - obstacles: what the service waits for, part and reason; empty when it is ready.
    ///   - metrics: the text of the moment.
    public mutating func addOperations(
        obstacles: @escaping @Sendable () async -> [(name: String, obstacle: String)],
        metrics: @escaping @Sendable () async -> String
    ) {
        on(.get, "/healthz", isLimited: false) { _, _ in .text("ok\n") }
        on(.get, "/readyz", isLimited: false) { _, _ in
            let found = await obstacles()
            guard !found.isEmpty else { return .text("ready\n") }
            let lines = found.map { "\($0.name): \($0.obstacle)\n" }.joined()
            var response = Response.text(lines, status: .serviceUnavailable)
            response.headers.append("Retry-After", "1")
            return response
        }
        on(.get, "/metrics", isLimited: false) { _, _ in
            Response(headers: ["Content-Type": "text/plain; version=0.0.4; charset=utf-8"], body: Array(await metrics().utf8))
        }
    }
}
