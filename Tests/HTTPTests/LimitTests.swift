import Testing

@testable import HTTP

@Suite(.timeLimit(.minutes(1))) struct LimitTests {
    private func quick(_ change: @escaping (inout HTTPServer.Configuration) -> Void) -> HTTPServer.Configuration {
        Fixture.settings(change)
    }

    @Test func `a client that does not finish its head is cut off`() async throws {
        try await Fixture.serve(echoRouter(), settings: quick { $0.headerTimeout = .milliseconds(60) }) { fixture async throws in
            for start in ["", "G", "GET /hello HTTP/1.1\r\n", "GET /hello HTTP/1.1\r\nHost: x\r\n"] {
                let connection = try await fixture.connect()
                try await connection.send(start)
                #expect(try await connection.isClosed(), "\(start)")
            }
            // Bytes that trickle in do not buy time.
            let slow = try await fixture.connect()
            try await slow.send("GET /hello HTTP/1.1\r\nHost: x\r\nA: ")
            await #expect(throws: ClientError.self) {
                while true { try await slow.send("a") }
            }
            #expect(try await slow.isClosed())
        }
    }

    @Test func `a client that does not finish its body is cut off`() async throws {
        try await Fixture.serve(echoRouter(), settings: quick { $0.bodyTimeout = .milliseconds(60) }) { fixture async throws in
            for framing in ["Content-Length: 10\r\n\r\nhello", "Transfer-Encoding: chunked\r\n\r\n5\r\nhel"] {
                let connection = try await fixture.connect()
                try await connection.send("POST /echo HTTP/1.1\r\nHost: x\r\n\(framing)")
                #expect(try await connection.isClosed(), "\(framing)")
            }
        }
    }

    @Test func `an idle connection is closed, a waiting one is not`() async throws {
        let latch = Latch()
        var router = echoRouter()
        router.get("/wait") { _, _ in
            await latch.wait()
            return .text("waited")
        }
        let settings = quick {
            $0.headerTimeout = .seconds(2)
            $0.idleTimeout = .milliseconds(2_100)
        }
        try await Fixture.serve(router, settings: settings) { fixture async throws in
            let waiting = try await fixture.connect()
            try await waiting.send(.get("/wait"))
            let idle = try await fixture.connect()
            #expect(try await idle.exchange(.get("/hello")).text == "hello")
            #expect(try await idle.isClosed())
            await latch.open()
            #expect(try await waiting.receive().text == "waited")
            await eventually { fixture.server.connectionCount == 0 }
        }
    }

    @Test func `connections past the limit are closed, later ones served`() async throws {
        try await Fixture.serve(echoRouter(), settings: quick { $0.connectionLimit = 3 }) { fixture async throws in
            var open: [RawConnection] = []
            for _ in 0..<3 { open.append(try await fixture.connect()) }
            for connection in open { #expect(try await connection.exchange(.get("/hello")).text == "hello") }
            #expect(try await fixture.connect().isClosed())
            #expect(fixture.server.connectionCount == 3)
            open.removeFirst()
            await eventually { fixture.server.connectionCount == 2 }
            #expect(try await fixture.connect().exchange(.get("/hello")).text == "hello")
        }
    }

    @Test func `each address has a limit of its own`() async throws {
        let settings = quick {
            $0.address = "::"
            $0.connectionLimitPerAddress = 1
        }
        try await Fixture.serve(echoRouter(), settings: settings) { fixture async throws in
            let first = try await fixture.connect()
            #expect(try await first.exchange(.get("/hello")).text == "hello")
            #expect(try await fixture.connect().isClosed())
            let other = try await RawConnection(port: fixture.port, address: "::1")
            #expect(try await other.exchange(.get("/hello")).text == "hello")
        }
    }

    @Test func `the peer is known, mapped addresses as IPv4`() async throws {
        var router = Router()
        router.get("/peer") { request, _ in .text(request.peer.description) }
        try await Fixture.serve(router, settings: quick { $0.address = "::" }) { fixture async throws in
            #expect(try await fixture.connect().exchange(.get("/peer")).text == "127.0.0.1")
            #expect(try await RawConnection(port: fixture.port, address: "::1").exchange(.get("/peer")).text == "::1")
        }
    }
}
