public import Runtime

extension OperationsServer {
    /// The server that the settings ask for: none where `LATCHKEY_OPERATIONS_PORT` is 0.
    public static func asked(for common: CommonSettings, _ context: ServiceContext) -> [any Component] {
        asked(for: common, obstacles: { context.readiness.obstacles }, metrics: { context.metrics.render() })
    }

    /// The same, with more to say about readiness.
    public static func asked(
        for common: CommonSettings, obstacles: @escaping @Sendable () async -> [(name: String, obstacle: String)],
        metrics: @escaping @Sendable () async -> String
    ) -> [any Component] {
        guard common.operationsPort > 0 else { return [] }
        let listening = HTTPServer.Configuration(address: common.address, port: UInt16(common.operationsPort))
        return [OperationsServer(listening, obstacles: obstacles, metrics: metrics)]
    }
}
