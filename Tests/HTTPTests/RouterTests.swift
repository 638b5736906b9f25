import Testing

@testable import HTTP

@Suite(.timeLimit(.minutes(1))) struct RouterTests {
    private struct Tag: Middleware {
        let name: String

        func handle(_ request: Request, context: RequestContext, next: Handler) async throws -> Response {
            var response: Response
            do {
                response = try await next(request, context)
            } catch let failure as HTTPFailure {
                response = BareFailures().complete(failure)
            }
            response.headers["X-Trail"] = name + (response.headers["X-Trail"] ?? "")
            return response
        }
    }

    private static func text(_ text: String) -> Handler { { _, _ in .text(text) } }

    private static let router: Router = {
        var router = Router()
        router.use(Tag(name: "a"))
        router.get("/", text("root"))
        router.get("/users/me", text("me"))
        router.get("/users/{id}") { _, context in .text("user \(try context.parameters.require("id", as: Int.self))") }
        router.delete("/users/{name}") { _, context in .text("gone \(try context.parameters.require("name"))") }
        router.get("/users/{id}/posts/{post}") { _, context in
            .text("\(context.parameters["id"] ?? "-") \(context.parameters["post"] ?? "-") \(context.route ?? "-")")
        }
        router.get("/users/me/posts", text("mine"))
        router.group("/api", bodyLimit: 4, middleware: [Tag(name: "b")]) { api in
            api.use(Tag(name: "c"))
            api.post("/small", middleware: [Tag(name: "d")], text("small"))
            api.post("/large", bodyLimit: 8, text("large"))
            api.group("/inner", middleware: [Tag(name: "e")]) { $0.get("/x", text("x")) }
        }
        router.get("/plain", text("plain"))
        router.on(.head, "/own", { _, _ in Response(.noContent, headers: ["X-Own": "head"]) })
        router.get("/own", text("own"))
        router.on("PURGE", "/own", text("purged"))
        return router
    }()

    @Test func `paths find their handlers`() async throws {
        try await withBothClients(Self.router) { client async throws in
            let texts = [
                ("/", "root"), ("/users/me", "me"), ("/users/7", "user 7"), ("/users/me/posts", "mine"),
                ("/users/me/posts/3", "me 3 /users/{id}/posts/{post}"),
                ("/users/a%2Fb/posts/c%20d", "a/b c d /users/{id}/posts/{post}"),
                ("/plain?x=1", "plain"), ("/pl%61in", "plain"),
            ]
            for (path, text) in texts {
                let response = try await client.send(.get(path))
                #expect(response.status == .ok, "\(path)")
                #expect(response.text == text)
            }
            #expect(try await client.send(ClientRequest(.delete, "/users/ann")).text == "gone ann")
            #expect(try await client.send(ClientRequest("PURGE", "/own")).text == "purged")
        }
    }

    @Test func `what names nothing is not found`() async throws {
        try await withBothClients(Self.router) { client async throws in
            for path in [
                "/nothing", "/users", "/users/", "/users//posts/1", "/plain/", "//plain", "/Plain", "/users/x", "/plain%2F",
            ] {
                let response = try await client.send(.get(path))
                #expect(response.status == .notFound, "\(path)")
            }
        }
    }

    @Test func `another method is told which are allowed`() async throws {
        try await withBothClients(Self.router) { client async throws in
            let response = try await client.send(.post("/users/7", json: "{}"))
            #expect(response.status == .methodNotAllowed)
            #expect(response.headers["Allow"] == "DELETE, GET, HEAD, OPTIONS")
            let unknown = try await client.send(ClientRequest("BREW", "/plain"))
            #expect(unknown.status == .methodNotAllowed)
            #expect(unknown.headers["Allow"] == "GET, HEAD, OPTIONS")
            // Method names are case-sensitive.
            #expect(try await client.send(ClientRequest("get", "/plain")).status == .methodNotAllowed)
        }
    }

    @Test func `OPTIONS lists the methods, HEAD is GET without a body`() async throws {
        try await withBothClients(Self.router) { client async throws in
            let options = try await client.send(ClientRequest(.options, "/users/7"))
            #expect(options.status == .noContent)
            #expect(options.headers["Allow"] == "DELETE, GET, HEAD, OPTIONS")
            let server = try await client.send(ClientRequest(.options, "*"))
            #expect(server.status == .noContent)
            #expect(server.headers["Allow"] == "DELETE, GET, HEAD, OPTIONS, POST, PURGE")
            #expect(try await client.send(ClientRequest(.options, "/nothing")).status == .notFound)
            let head = try await client.send(ClientRequest(.head, "/plain"))
            #expect(head.status == .ok)
            #expect(head.headers["Content-Type"] == "text/plain; charset=utf-8")
            #expect(head.body.isEmpty)
            #expect(try await client.send(ClientRequest(.head, "/own")).headers["X-Own"] == "head")
            // The connection is still in step.
            #expect(try await client.send(.get("/plain")).text == "plain")
        }
    }

    @Test func `middleware stands around routes in order`() async throws {
        try await withBothClients(Self.router) { client async throws in
            #expect(try await client.send(.post("/api/small", json: "1")).headers["X-Trail"] == "abcd")
            #expect(try await client.send(.get("/api/inner/x")).headers["X-Trail"] == "abce")
            #expect(try await client.send(.get("/plain")).headers["X-Trail"] == "a")
            let missing = try await client.send(.get("/nothing"))
            #expect(missing.headers["X-Trail"] == "a")
            #expect(missing.status == .notFound)
        }
    }

    @Test func `groups and routes set the limit of bodies`() async throws {
        try await withBothClients(Self.router) { client async throws in
            #expect(try await client.send(.post("/api/small", json: "1234")).status == .ok)
            #expect(try await client.send(.post("/api/small", json: "12345")).status == .payloadTooLarge)
            #expect(try await client.send(.post("/api/large", json: "12345678")).status == .ok)
            #expect(try await client.send(.post("/api/large", json: "123456789")).status == .payloadTooLarge)
        }
    }
}
