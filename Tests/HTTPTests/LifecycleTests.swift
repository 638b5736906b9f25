import Runtime
import Synchronization
import Testing

@testable import HTTP

@Suite(.timeLimit(.minutes(1))) struct LifecycleTests {
    /// - Parameter address: one of the test's own where it looks whether a port is closed: tests beside it take free ports.
    private func server(_ router: Router, address: String = "127.0.0.1", port: UInt16 = 0) -> HTTPServer {
        let settings = Fixture.settings {
            $0.address = address
            $0.port = port
        }
        return HTTPServer(HTTPApplication(router: router), settings)
    }

    @Test func `a taken port is said in one line`() async throws {
        try await Fixture.serve(echoRouter()) { fixture async throws in
            let second = server(echoRouter(), port: fixture.port)
            let error = try #require(throws: HTTPServerError.self) { try second.start() }
            #expect("\(error)" == "port \(fixture.port) on 127.0.0.1 is taken by another process")
        }
    }

    @Test func `what cannot be listened on is said`() {
        var settings = HTTPServer.Configuration(address: "localhost")
        let application = HTTPApplication(router: Router())
        #expect(throws: HTTPServerError.invalidAddress("localhost")) { try HTTPServer(application, settings).start() }
        settings.address = "192.0.2.1"
        #expect(throws: HTTPServerError.self) { try HTTPServer(application, settings).start() }
    }

    @Test func `a stopped port is free at once, and a server starts once`() async throws {
        let first = server(echoRouter(), address: "127.0.0.2")
        let port = try first.start()
        #expect(throws: HTTPServerError.alreadyStarted) { try first.start() }
        #expect(try await RawConnection(port: port, address: "127.0.0.2").exchange(.get("/hello")).text == "hello")
        await first.stop(within: .seconds(1))
        #expect(first.port == nil)
        await #expect(throws: ClientError.self) { try await RawConnection(port: port, address: "127.0.0.2") }
        let second = server(echoRouter(), address: "127.0.0.2", port: port)
        #expect(try second.start() == port)
        await second.stop(within: .seconds(1))
        await second.stop(within: .seconds(1))
    }

    @Test func `a stop waits for requests in flight and refuses new connections`() async throws {
        let latch = Latch()
        let started = Collector<Void>()
        var router = echoRouter()
        router.get("/wait") { _, _ in
            started.add(())
            await latch.wait()
            return .text("done")
        }
        let server = server(router, address: "127.0.0.3")
        let port = try server.start()
        let waiting = try await RawConnection(port: port, address: "127.0.0.3")
        try await waiting.send(.get("/wait"))
        let idle = try await RawConnection(port: port, address: "127.0.0.3")
        #expect(try await idle.exchange(.get("/hello")).text == "hello")
        _ = await started.wait(for: 1)
        async let stop: Void = server.stop(within: .seconds(30))
        await eventually { (try? await RawConnection(port: port, address: "127.0.0.3")) == nil }
        // A kept connection still works, and ends behind its answer.
        #expect(try await idle.exchange(.get("/hello")).headers["Connection"] == "close")
        #expect(try await idle.isClosed())
        await latch.open()
        let response = try await waiting.receive()
        #expect(response.text == "done")
        #expect(response.headers["Connection"] == "close")
        await stop
        #expect(try await waiting.isClosed())
    }

    @Test func `a stop past its deadline answers 503 and cancels`() async throws {
        let started = Collector<Void>()
        let cancelled = Collector<Bool>()
        var router = Router()
        router.get("/wait") { _, _ in
            started.add(())
            try? await Task.sleep(for: .seconds(600))
            cancelled.add(Task.isCancelled)
            return .text("too late")
        }
        let server = server(router)
        let port = try server.start()
        var connections: [RawConnection] = []
        for _ in 0..<5 { connections.append(try await RawConnection(port: port)) }
        for connection in connections { try await connection.send(.get("/wait")) }
        _ = await started.wait(for: 5)
        await server.stop(within: .milliseconds(30))
        for connection in connections {
            let response = try await connection.receive()
            #expect(response.status == .serviceUnavailable)
            #expect(response.headers["Retry-After"] == "1")
        }
        #expect(await cancelled.wait(for: 5) == [true, true, true, true, true])
    }

    @Test func `half a request does not hold up a stop`() async throws {
        let server = server(echoRouter())
        let port = try server.start()
        let connection = try await RawConnection(port: port)
        try await connection.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhello")
        await eventually { server.connectionCount == 1 }
        await server.stop(within: .milliseconds(50))
        #expect(try await connection.isClosed())
    }

    @Test func `a client that leaves while its handler waits leaves nothing behind`() async throws {
        let latch = Latch()
        let started = Collector<Void>()
        let observed = Collector<HTTPStatus>()
        var router = echoRouter()
        router.get("/wait") { _, _ in
            started.add(())
            await latch.wait()
            return .text("nobody listens")
        }
        try await Fixture.serve(router, observe: [{ observed.add($0.status) }]) { fixture async throws in
            for _ in 0..<20 {
                let connection = try await fixture.connect()
                try await connection.send(.get("/wait"))
            }
            _ = await started.wait(for: 20)
            await latch.open()
            _ = await observed.wait(for: 20)
            await eventually { fixture.server.connectionCount == 0 && fixture.server.application.inFlight == 0 }
            #expect(try await fixture.connect().exchange(.get("/hello")).text == "hello")
        }
    }

    @Test func `run serves until its lifecycle asks it to stop`() async throws {
        let server = server(echoRouter(), address: "127.0.0.4")
        let signal = ShutdownSignal()
        let run = Task { try await ShutdownSignal.$current.withValue(signal) { try await server.run() } }
        await eventually { server.port != nil }
        let port = try #require(server.port)
        #expect(try await RawConnection(port: port, address: "127.0.0.4").exchange(.get("/hello")).text == "hello")
        signal.request()
        try await run.value
        await #expect(throws: ClientError.self) { try await RawConnection(port: port, address: "127.0.0.4") }
    }

    @Test func `many clients at once each get their own answer`() async throws {
        var router = Router()
        router.post("/turn") { request, context in
            let text = String(decoding: request.body, as: UTF8.self)
            if text.hasSuffix("1") { await Task.yield() }
            if text.hasSuffix("2") { try await Task.sleep(for: .microseconds(10)) }
            return .text(String(text.reversed()))
        }
        try await Fixture.serve(router) { fixture async throws in
            let port = fixture.port
            try await withThrowingTaskGroup(of: Void.self) { group in
                for client in 0..<16 {
                    group.addTask {
                        let socket = SocketClient(port: port)
                        for turn in 0..<100 {
                            let text = "\(client)-\(turn)"
                            let response = try await socket.send(.post("/turn", json: text))
                            #expect(response.text == String(text.reversed()))
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(fixture.server.application.inFlight == 0)
        }
    }

    @Test func `however many clients are ready at once, all are answered`() async throws {
        let gate = Gate()
        let isHeld = Collector<Void>()
        var router = echoRouter()
        router.get("/hold") { _, _ in
            // Against all rules: the event loop stands still, so that what comes meanwhile comes to it at once.
            isHeld.add(())
            gate.wait()
            return .text("held")
        }
        let settings = Fixture.settings { $0.threads = 1 }
        try await Fixture.serve(router, settings: settings) { fixture async throws in
            // 128 is how many events the library fetches at a time.
            var connections: [RawConnection] = []
            for _ in 0..<128 { connections.append(try await fixture.connect()) }
            for connection in connections { #expect(try await connection.exchange(.get("/hello")).text == "hello") }
            try await connections[0].send(.get("/hold"))
            _ = await isHeld.wait(for: 1)
            for connection in connections[1...] { try await connection.send(.get("/hello")) }
            try await connections[0].send(.get("/hello"))
            gate.open()
            #expect(try await connections[0].receive().text == "held")
            for connection in connections { #expect(try await connection.receive().text == "hello") }
        }
    }
}
