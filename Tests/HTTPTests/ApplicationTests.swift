import JSON
import Testing

@testable import HTTP

@Suite(.timeLimit(.minutes(1))) struct ApplicationTests {
    private struct Teapot: HTTPResponseError {
        var response: Response { .text("short and stout", status: 418) }
    }

    private struct Secret: Error {
        let text = "password"
    }

    private struct Words: FailureResponses {
        func response(for failure: HTTPFailure) -> Response {
            .json(["error": .string("\(failure)".prefix { $0.isLetter }.description)], status: failure.status)
        }
    }

    private enum User: ContextKey { typealias Value = String }

    private struct Login: Middleware {
        func handle(_ request: Request, context: RequestContext, next: Handler) async throws -> Response {
            guard let name = request.headers["X-User"] else { throw Teapot() }
            var context = context
            context[User.self] = name
            return try await next(request, context)
        }
    }

    @Test func `every answer has an id and may not be stored`() async throws {
        var router = echoRouter()
        router.get("/public") { _, _ in Response(headers: ["Cache-Control": "public, max-age=300", "X-Request-Id": "mine"]) }
        try await withBothClients(router) { client async throws in
            let given = try await client.send(.get("/hello", headers: ["X-Request-Id": "abc-1"]))
            #expect(given.headers.values("X-Request-Id") == ["abc-1"])
            #expect(given.headers["Cache-Control"] == "no-store")
            let missing = try await client.send(.get("/nothing"))
            #expect(missing.headers["X-Request-Id"]?.utf8.count == 16)
            #expect(missing.headers["Cache-Control"] == "no-store")
            let open = try await client.send(.get("/public", headers: ["X-Request-Id": "bad id"]))
            #expect(open.headers.values("Cache-Control") == ["public, max-age=300"])
            #expect(open.headers["X-Request-Id"]?.utf8.count == 16)
        }
    }

    @Test func `errors know their response or become a bare 500`() async throws {
        var router = Router()
        router.get("/teapot") { _, _ in throw Teapot() }
        router.get("/secret") { _, _ in throw Secret() }
        router.get("/failure") { _, _ in throw HTTPFailure.unavailable(retryAfter: 7) }
        let faults = Collector<String>()
        try await withBothClients(
            router, failures: Words(), observe: [{ if let fault = $0.fault { faults.add("\(type(of: fault))") } }]
        ) { client async throws in
            let teapot = try await client.send(.get("/teapot"))
            #expect(teapot.status == 418)
            #expect(teapot.text == "short and stout")
            let secret = try await client.send(.get("/secret"))
            #expect(secret.status == .internalServerError)
            #expect(secret.text == #"{"error":"internalError"}"#)
            let failure = try await client.send(.get("/failure"))
            #expect(failure.status == .serviceUnavailable)
            #expect(failure.headers["Retry-After"] == "7")
            #expect(try await client.send(.get("/nothing")).text == #"{"error":"notFound"}"#)
        }
        #expect(faults.values == ["Secret", "Secret"])
    }

    @Test func `middleware hands values on in the context`() async throws {
        var router = Router()
        router.get("/who", middleware: [Login()]) { _, context in .text(context[User.self] ?? "nobody") }
        try await withBothClients(router) { client async throws in
            #expect(try await client.send(.get("/who", headers: ["x-user": "ann"])).text == "ann")
            #expect(try await client.send(.get("/who")).status == 418)
        }
    }

    @Test func `past the deadline the client gets 504 and the handler is cancelled`() async throws {
        let ended = Collector<Bool>()
        var router = echoRouter()
        router.get("/slow") { _, context in
            #expect(context.remaining <= .milliseconds(50))
            try? await Task.sleep(for: .seconds(600))
            ended.add(Task.isCancelled)
            return .text("too late")
        }
        var rules = HTTPApplication.Configuration()
        rules.deadline = .milliseconds(50)
        try await withBothClients(router, rules: rules, failures: Words()) { client async throws in
            let response = try await client.send(.get("/slow", headers: ["X-Request-Id": "slow"]))
            #expect(response.status == .gatewayTimeout)
            #expect(response.text == #"{"error":"timeout"}"#)
            #expect(response.headers["X-Request-Id"] == "slow")
            // The connection goes on, and the late answer goes nowhere.
            #expect(try await client.send(.get("/hello")).text == "hello")
        }
        #expect(await ended.wait(for: 2) == [true, true])
    }

    @Test func `past the limit of requests in flight there is a 503 at once`() async throws {
        let latch = Lock(Latch())
        let started = Lock(Collector<Void>())
        var router = echoRouter()
        router.get("/wait") { _, _ in
            started.withLock { $0 }.add(())
            await latch.withLock { $0 }.wait()
            return .text("done")
        }
        var rules = HTTPApplication.Configuration()
        rules.inFlightLimit = 2
        rules.retryAfter = 3

        func check(_ clients: [any Client]) async throws {
            latch.withLock { $0 = Latch() }
            started.withLock { $0 = Collector() }
            try await withThrowingTaskGroup(of: String.self) { group in
                for client in clients[..<2] { group.addTask { try await client.send(.get("/wait")).text } }
                _ = await started.withLock { $0 }.wait(for: 2)
                let refused = try await clients[2].send(.get("/hello"))
                #expect(refused.status == .serviceUnavailable)
                #expect(refused.headers["Retry-After"] == "3")
                // What needs no handler is answered all the same.
                #expect(try await clients[2].send(.get("/nothing")).status == .notFound)
                await latch.withLock { $0 }.open()
                for try await text in group { #expect(text == "done") }
            }
            await eventually { try! await clients[2].send(.get("/hello")).status == .ok }
        }

        let application = HTTPApplication(router: router, configuration: rules)
        try await check(Array(repeating: InMemoryClient(application), count: 3))
        #expect(application.inFlight == 0)
        try await Fixture.serve(router, rules: rules) { fixture async throws in
            try await check((0..<3).map { _ in SocketClient(port: fixture.port) })
        }
    }

    @Test func `each answered request is observed once`() async throws {
        let seen = Collector<String>()
        let observer: @Sendable (Observation) -> Void = {
            seen.add("\($0.method) \($0.route ?? "-") \($0.status) \($0.requestBytes) \($0.responseBytes) \($0.duration > .zero)")
        }
        var router = echoRouter()
        router.get("/items/{id}") { _, _ in .text("item") }
        try await withBothClients(router, observe: [observer]) { client async throws in
            _ = try await client.send(.get("/items/7"))
            _ = try await client.send(.post("/echo", json: "{}"))
            _ = try await client.send(.get("/nothing"))
            _ = try await client.send(ClientRequest(.delete, "/hello"))
        }
        let expected = [
            "GET /items/{id} 200 0 4 true", "POST /echo 200 2 2 true", "GET - 404 0 0 true", "DELETE /hello 405 0 0 true",
        ]
        #expect(seen.values == expected + expected)
    }

    @Test func `bodies are read as JSON by the rules of the contract`() async throws {
        var router = Router()
        router.post("/json") { request, _ in .json(["got": try request.json()]) }
        try await withBothClients(router, failures: Words()) { client async throws in
            func send(_ body: [UInt8], _ type: String?) async throws -> ClientResponse {
                try await client.send(
                    ClientRequest(.post, "/json", headers: type.map { ["Content-Type": $0] } ?? [:], body: body))
            }
            let object = Array(#"{"a":[1,null]}"#.utf8)
            let types = [
                "application/json", "application/json; charset=utf-8", "Application/JSON;charset=\"UTF-8\"",
                "application/json ; v=1",
            ]
            for type in types { #expect(try await send(object, type).text == #"{"got":{"a":[1,null]}}"#, "\(type)") }
            for type in [
                nil, "text/plain", "application/json-patch", "application/jsonx", "application/x-www-form-urlencoded",
                "application/json; charset=latin1",
            ] {
                #expect(try await send(object, type).status == .unsupportedMediaType, "\(type ?? "none")")
            }
            #expect(try await send([], nil).text == #"{"got":{}}"#)
            #expect(try await send([], "text/plain").text == #"{"got":{}}"#)
            for body in ["{", "{}x", "", "nul", #"{"a":1,"a":2}"#, " "] where !body.isEmpty {
                let response = try await send(Array(body.utf8), "application/json")
                #expect(response.status == .badRequest, "\(body)")
                #expect(response.text == #"{"error":"malformedBody"}"#)
            }
            #expect(try await send([0x22, 0xff, 0x22], "application/json").status == .badRequest)
            #expect(try await send([0xef, 0xbb, 0xbf, 0x7b, 0x7d], "application/json").status == .badRequest)
        }
    }
}
