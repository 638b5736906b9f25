import Runtime

/// Calls an application without a socket.
public struct InMemoryClient: Client {
    private let application: HTTPApplication
    private let peer: IPAddress

    public init(_ application: HTTPApplication, peer: IPAddress = .loopbackV4) {
        self.application = application
        self.peer = peer
    }

    public func send(_ request: ClientRequest) async -> ClientResponse {
        var headers = request.headers
        headers.setDefault("Host", "localhost")
        if !request.body.isEmpty { headers.setDefault("Content-Length", String(request.body.count)) }
        let head = RequestHead.check(method: request.method.rawValue, target: request.target, headers: headers)
        let message = Request(
            method: request.method, path: head.path, query: head.query, headers: headers, body: request.body, peer: peer)
        var plan = application.plan(message.method, head)
        if plan.isRouted, request.body.count > plan.bodyLimit {
            plan = application.plan(for: .payloadTooLarge(limit: plan.bodyLimit), route: plan.route)
        }
        let answer = Handoff<Response>()
        application.dispatch(message, plan) { answer.resume(returning: $0) }
        let response = await answer.value
        let hasBody = request.method != .head && response.status.allowsBody
        return ClientResponse(status: response.status, headers: response.headers, body: hasBody ? response.body : [])
    }
}
