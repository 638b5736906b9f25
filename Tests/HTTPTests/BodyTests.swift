import Testing

@testable import HTTP

@Suite(.timeLimit(.minutes(1))) struct BodyTests {
    private let limit = 64 * 1_024

    @Test func `a body of the limit passes, one byte more does not`() async throws {
        try await withBothClients(echoRouter()) { client async throws in
            let most = String(repeating: "x", count: limit)
            #expect(try await client.send(.post("/echo", json: most)).text == most)
            #expect(try await client.send(.post("/echo", json: most + "x")).status == .payloadTooLarge)
            #expect(try await client.send(.get("/hello")).text == "hello")
        }
    }

    @Test func `a body that is announced too large is refused unread`() async throws {
        try await Fixture.serve(echoRouter()) { fixture async throws in
            let connection = try await fixture.connect()
            try await connection.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000000\r\n\r\nxxxx")
            let response = try await connection.receive()
            #expect(response.status == .payloadTooLarge)
            #expect(response.headers["Connection"] == "close")
            #expect(response.headers["X-Request-Id"] != nil)
            #expect(try await connection.isClosed())
        }
    }

    @Test func `a client that sends on gets the answer and no reset`() async throws {
        try await Fixture.serve(echoRouter()) { fixture async throws in
            let connection = try await fixture.connect()
            let body = [UInt8](repeating: 0x78, count: 900_000)
            try await connection.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.count)\r\n\r\n")
            // The server has refused by now or will have; either way all of this finds a reader.
            try await connection.send(body)
            #expect(try await connection.receive().status == .payloadTooLarge)
            #expect(try await connection.isClosed())
        }
    }

    @Test func `an unknown path is not found, however large the body`() async throws {
        try await Fixture.serve(echoRouter()) { fixture async throws in
            let response = try await fixture.raw("POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000000\r\n\r\n")
            #expect(response.status == .notFound)
            #expect(response.headers["Connection"] == "close")
        }
    }

    @Test(arguments: [66_000, 1_000_000, 3_000_000])
    func `a chunked body has the same limit`(count: Int) async throws {
        try await Fixture.serve(echoRouter()) { fixture async throws in
            let connection = try await fixture.connect()
            try await connection.send("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
            let chunk = Array("3e8\r\n".utf8) + [UInt8](repeating: 0x78, count: 1_000) + Array("\r\n".utf8)
            for _ in 0..<(count / 1_000) {
                // The server may have cut it.
                do { try await connection.send(chunk) } catch { break }
            }
            try? await connection.send("0\r\n\r\n")
            let response = try await connection.receive()
            #expect(response.status == .payloadTooLarge)
            #expect(response.headers["Connection"] == "close")
        }
    }

    @Test func `a client that expects 100 gets it, or its refusal at once`() async throws {
        try await Fixture.serve(echoRouter()) { fixture async throws in
            let connection = try await fixture.connect()
            try await connection.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
            #expect(try await connection.receiveAny().status == 100)
            try await connection.send("hello")
            #expect(try await connection.receiveAny().text == "hello")

            let head = "POST /echo HTTP/1.1\r\nHost: x\r\n"
            let large = try await fixture.raw(head + "Content-Length: 65537\r\nExpect: 100-Continue\r\n\r\n")
            #expect(large.status == .payloadTooLarge)
            let other = try await fixture.raw(head + "Content-Length: 5\r\nExpect: 200-ok\r\n\r\n")
            #expect(other.status == .expectationFailed)
        }
    }

    @Test func `requests in one packet are answered in order`() async throws {
        try await Fixture.serve(echoRouter()) { fixture async throws in
            let connection = try await fixture.connect()
            let get = "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n"
            try await connection.send(
                get + "GET /later HTTP/1.1\r\nHost: x\r\n\r\n" + "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\none"
                    + "HEAD /hello HTTP/1.1\r\nHost: x\r\n\r\n" + "GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n" + get)
            #expect(try await connection.receive().text == "hello")
            #expect(try await connection.receive().text == "later")
            #expect(try await connection.receive().text == "one")
            #expect(try await connection.receive(toHead: true).headers["Content-Length"] == "5")
            #expect(try await connection.receive().status == .notFound)
            #expect(try await connection.receive().text == "hello")
        }
    }

    @Test func `connections are kept as the versions of HTTP say`() async throws {
        try await Fixture.serve(echoRouter()) { fixture async throws in
            let old = try await fixture.connect()
            try await old.send("GET /hello HTTP/1.0\r\n\r\n")
            #expect(try await old.receive().text == "hello")
            #expect(try await old.isClosed())
            let kept = try await fixture.connect()
            try await kept.send("GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            #expect(try await kept.receive().headers["Connection"]?.lowercased() == "keep-alive")
            try await kept.send("GET /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            #expect(try await kept.receive().headers["Connection"] == "close")
            #expect(try await kept.isClosed())
        }
    }

    @Test func `a client that ends its side with the request gets the answer and the end`() async throws {
        try await Fixture.serve(echoRouter()) { fixture async throws in
            for path in ["/hello", "/later"] {
                for _ in 0..<20 {
                    let connection = try await fixture.connect()
                    try await connection.sendAll("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
                    #expect(try await connection.receive().status == .ok)
                    #expect(try await connection.isClosed())
                }
            }
        }
    }

    @Test func `a response with a broken header becomes a 500`() async throws {
        var router = Router()
        router.get("/split") { _, _ in Response(headers: ["X-A": "b\r\nSet-Cookie: c"]) }
        router.get("/name") { _, _ in Response(headers: ["X A": "b"]) }
        try await Fixture.serve(router) { fixture async throws in
            for path in ["/split", "/name"] {
                let response = try await fixture.raw("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
                #expect(response.status == .internalServerError)
                #expect(!response.headers.contains("Set-Cookie"))
            }
        }
    }

    @Test func `large heads are refused`() async throws {
        try await Fixture.serve(echoRouter()) { fixture async throws in
            let head = "GET /hello HTTP/1.1\r\nHost: x\r\n"
            #expect(try await fixture.raw(head + "A: " + String(repeating: "a", count: 8_100) + "\r\n\r\n").status == .ok)
            #expect(
                try await fixture.raw(head + "A: " + String(repeating: "a", count: 8_200) + "\r\n\r\n").status
                    == .headerFieldsTooLarge)
            #expect(
                try await fixture.raw(head + "A: " + String(repeating: "a", count: 100_000) + "\r\n\r\n").status
                    == .headerFieldsTooLarge)
            #expect(
                try await fixture.raw(head + String(repeating: "A: b\r\n", count: 5_000) + "\r\n").status == .headerFieldsTooLarge
            )
            #expect(
                try await fixture.raw("GET /" + String(repeating: "a", count: 100_000) + " HTTP/1.1\r\n\r\n").status
                    == .uriTooLong)
        }
    }

    @Test(arguments: [
        "5;" + String(repeating: "x", count: 100_000), "0\r\n" + String(repeating: "A: b\r\n", count: 20_000),
        "0\r\nA: " + String(repeating: "x", count: 100_000), String(repeating: "0", count: 100_000),
    ])
    func `chunk lines and trailers have an end`(body: String) async throws {
        let settings = Fixture.settings { $0.bodyTimeout = .seconds(1) }
        try await Fixture.serve(echoRouter(), settings: settings) { fixture async throws in
            let connection = try await fixture.connect()
            try? await connection.send("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + body)
            let response = try? await connection.receive()
            #expect(response == nil || response?.status.rawValue ?? 0 >= 400)
            #expect(try await connection.isClosed())
        }
    }
}
