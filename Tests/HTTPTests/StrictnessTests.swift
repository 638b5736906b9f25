import Testing

@testable import HTTP

/// What two readers could understand differently is refused, and the connection ends: nothing behind it is ever read as a
/// request.
@Suite(.timeLimit(.minutes(1))) struct StrictnessTests {
    private static let host = "Host: localhost\r\n"
    /// Would be answered with 200 if it were read as a request.
    private static let smuggled = "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n"

    private static func post(_ fields: String, _ body: String) -> String { "POST /echo HTTP/1.1\r\n\(host)\(fields)\r\n\(body)" }
    private static func chunked(_ body: String) -> String { post("Transfer-Encoding: chunked\r\n", body) }
    private static func get(_ fields: String) -> String { "GET /hello HTTP/1.1\r\n\(fields)\r\n" }

    /// Sends the text and one more request behind it; gives what came back, completely.
    private func answers(_ text: String, _ fixture: Fixture, pieces: Int? = nil) async throws -> (
        first: ClientResponse, all: String
    ) {
        let connection = try await fixture.connect()
        let bytes = Array((text + Self.smuggled).utf8)
        // A server that has refused may have closed already.
        try? await connection.send(bytes, pieces: pieces ?? bytes.count)
        let first = try await connection.receive()
        var all = first.text
        while let more = try? await connection.receive() { all += more.text }
        #expect(try await connection.isClosed())
        return (first, all)
    }

    @Test(arguments: [
        // Both ways to say where the body ends.
        post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
        post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n"),
        post("Content-Length: 0\r\ntransfer-encoding: identity\r\n", ""),
        // Lengths that are several or none. (What is no number the library refuses itself, and 0.9.75 says so twice.)
        post("Content-Length: 5\r\nContent-Length: 5\r\n", "hello"),
        post("Content-Length: 5\r\nContent-Length: 6\r\n", "hello"),
        post("Content-Length: 5, 5\r\n", "hello"), post("Content-Length: 5,6\r\n", "hello"),
        post("Content-Length: +5\r\n", "hello"),
        post("Content-Length: -5\r\n", "hello"), post("Content-Length: 0x5\r\n", "hello"),
        post("Content-Length: 5 5\r\n", "hello"),
        post("Content-Length: 5 \r\n", "hello"), post("Content-Length:\r\n", "hello"), post("Content-Length: five\r\n", "hello"),
        post("Content-Length: 5.0\r\n", "hello"), post("Content-Length: \u{b}5\r\n", "hello"),
        // Transfer codings.
        post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
        post("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", "0\r\n\r\n"),
        post("Transfer-Encoding: chunked \r\n", "0\r\n\r\n"), post("Transfer-Encoding: chunked\t\r\n", "0\r\n\r\n"),
        post("Transfer-Encoding: \u{b}chunked\r\n", "0\r\n\r\n"), post("Transfer-Encoding : chunked\r\n", "0\r\n\r\n"),
        post("Transfer-Encoding\u{0}: chunked\r\n", "0\r\n\r\n"), post("X: y\r\n Transfer-Encoding: chunked\r\n", "0\r\n\r\n"),
        post("X: y\rTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), post("X: y\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
        "POST /echo HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        // Chunks.
        chunked("0x5\r\nhello\r\n0\r\n\r\n"), chunked("-5\r\nhello\r\n0\r\n\r\n"), chunked("+5\r\nhello\r\n0\r\n\r\n"),
        chunked("5 \r\nhello\r\n0\r\n\r\n"), chunked(" 5\r\nhello\r\n0\r\n\r\n"), chunked("g\r\nhello\r\n0\r\n\r\n"),
        chunked("\r\nhello\r\n0\r\n\r\n"), chunked("5\r\nhelloXX0\r\n\r\n"), chunked("5\nhello\r\n0\r\n\r\n"),
        chunked("5;a\nb\r\nhello\r\n0\r\n\r\n"), chunked("5\r\nhello\r\n3\nabc\r\n0\r\n\r\n"), chunked("5\r\nhello\r\nx\r\n\r\n"),
        // Lines.
        "GET /hello HTTP/1.1\nHost: localhost\n\n", get("Host: localhost\r\nA: b\n"),
        "GET /hello HTTP/1.1\nHost: localhost\r\n\r\n",
        "GET /hello HTTP/1.1\r\nHost: localhost\r\n\n", get("Host: localhost\r\nA: b\r\n c\r\n"),
        get("Host: localhost\r\nA: b\r\n\tc\r\n"),
        get(" Host: localhost\r\n"), get("Host : localhost\r\n"), get("Host: localhost\r\nA\t: b\r\n"),
        get("Host: localhost\r\nAb\r\n"),
        get("Host: localhost\r\n: b\r\n"), get("Host: localhost\r\nA: b\rc\r\n"), get("Host: localhost\r\nA\r: b\r\n"),
        // Characters.
        get("Host: localhost\r\nA\u{0}b: c\r\n"), get("Host: localhost\r\nA: b\u{0}c\r\n"),
        get("Host: localhost\r\nA: \u{1}\r\n"),
        get("Host: localhost\r\nA: b\u{0}\u{0}Content-Length: 5\r\n"), get("Host: localhost\r\n\u{0}A: b\r\n"),
        get("Host: localhost\r\nA: \u{7f}\r\n"), get("Host: localhost\r\nA(b: c\r\n"), get("Host: localhost\r\nÄ: c\r\n"),
        get("Host: localhost\r\nA\"b: c\r\n"), get("Host: localhost\r\nA: \u{1b}[0m\r\n"),
        // Host.
        get(""), get("Host: localhost\r\nHost: localhost\r\n"), get("Host: a\r\nhost: b\r\n"), get("Host: a/b\r\n"),
        get("Host: a b\r\n"),
        get("Host: a,b\r\n"), get("Host: user@a\r\n"), get("Host: a?b\r\n"),
        // Request lines.
        "GET  /hello HTTP/1.1\r\n\(host)\r\n", "GET /hello  HTTP/1.1\r\n\(host)\r\n", "GET /hello HTTP/1.1 \r\n\(host)\r\n",
        "GET /hello x HTTP/1.1\r\n\(host)\r\n", "GET\t/hello HTTP/1.1\r\n\(host)\r\n", "GET /hello\tHTTP/1.1\r\n\(host)\r\n",
        "GET /hello http/1.1\r\n\(host)\r\n", "GET /hello HTTP/1.1x\r\n\(host)\r\n",
        "GET /hello\r\n\r\n", "G(T /hello HTTP/1.1\r\n\(host)\r\n", "GET hello HTTP/1.1\r\n\(host)\r\n",
        "GET /hel\u{0}lo HTTP/1.1\r\n\(host)\r\n", "GET /hello\u{1} HTTP/1.1\r\n\(host)\r\n", "GET /hé HTTP/1.1\r\n\(host)\r\n",
        "GET /hello#a HTTP/1.1\r\n\(host)\r\n", "GET * HTTP/1.1\r\n\(host)\r\n", "CONNECT localhost:443 HTTP/1.1\r\n\(host)\r\n",
        "GET ftp://localhost/hello HTTP/1.1\r\n\(host)\r\n", "GET http:///hello HTTP/1.1\r\n\(host)\r\n",
        "GET http://user@localhost/hello HTTP/1.1\r\n\(host)\r\n", "GET /a/../hello HTTP/1.1\r\n\(host)\r\n",
        "GET /%2e%2e/hello HTTP/1.1\r\n\(host)\r\n", "GET /hello%00 HTTP/1.1\r\n\(host)\r\n",
        "GET /hello%zz HTTP/1.1\r\n\(host)\r\n",
        "GET /hello?a=%zz HTTP/1.1\r\n\(host)\r\n",
    ])
    func `an ambiguous request is refused`(text: String) async throws {
        try await Fixture.serve(echoRouter()) { fixture async throws in
            let (first, all) = try await answers(text, fixture)
            #expect(first.status == .badRequest)
            #expect(!all.contains("hello"))
        }
    }

    @Test(arguments: [
        chunked("5\r\nhello\n0\r\n\r\n"), chunked("5\r\nhello\r\n0\n\n"), chunked("5\nhello\r\n0\r\n\r\n"),
        chunked("5;\nx\r\n0\r\n\r\n"),
        chunked("5\r\nhello\r\n0\r\nA: b\n\r\n"), chunked("5\r\nhello\r\n0\r\nContent-Length: 7\r\n\r\n"),
    ])
    func `nothing behind a chunked body is read, however it ended`(text: String) async throws {
        try await Fixture.serve(echoRouter()) { fixture async throws in
            for pieces in [nil, 1, 3] {
                let (first, all) = try await answers(text, fixture, pieces: pieces)
                #expect(first.status == .badRequest || (first.status == .ok && all == "hello"), "\(pieces ?? 0)")
            }
        }
    }

    @Test(arguments: ["gzip", "gzip, chunked", "identity", "chunked, chunked", "xchunked", "chunked;q=1", ""])
    func `an unknown transfer coding is refused`(coding: String) async throws {
        try await Fixture.serve(echoRouter()) { fixture async throws in
            let (first, all) = try await answers(Self.post("Transfer-Encoding: \(coding)\r\n", "0\r\n\r\n"), fixture)
            #expect(first.status == .notImplemented)
            #expect(!all.contains("hello"))
        }
    }

    @Test(arguments: [
        ("HTTP/2.0", 505), ("HTTP/3.1", 505), ("HTTP/0.9", 505),
    ])
    func `another version is refused`(version: String, status: Int) async throws {
        try await Fixture.serve(echoRouter()) { fixture async throws in
            let (first, all) = try await answers("GET /hello \(version)\r\n\(Self.host)\r\n", fixture)
            #expect(first.status.rawValue == status)
            #expect(!all.contains("hello"))
        }
    }

    @Test func `a line without a method ends the connection`() async throws {
        try await Fixture.serve(echoRouter()) { fixture async throws in
            let connection = try await fixture.connect()
            try await connection.send(" GET /hello HTTP/1.1\r\n\(Self.host)\r\n" + Self.smuggled)
            #expect(try await connection.isClosed())
            await #expect(throws: ClientError.closed) { try await connection.receive() }
        }
    }

    @Test(arguments: [1, 2, 7])
    func `a head that comes in pieces is the same head`(size: Int) async throws {
        try await Fixture.serve(echoRouter()) { fixture async throws in
            let connection = try await fixture.connect()
            let text =
                "POST /echo HTTP/1.1\r\nHost:  localhost \r\nEmpty:\r\nContent-Type:text/x\t\r\nContent-Length: 5\r\n\r\nhello"
            let bytes = Array(text.utf8)
            try await connection.send(bytes, pieces: size)
            let response = try await connection.receive()
            #expect(response.text == "hello")
            #expect(response.headers["Content-Type"] == "text/x")
            // The same strictness, in pieces.
            let (first, _) = try await answers(Self.get("Host: localhost\r\nA: b\r\n c\r\n"), fixture, pieces: size)
            #expect(first.status == .badRequest)
            let (second, _) = try await answers(Self.get("Host: localhost\r\nA: b\nC: d\r\n"), fixture, pieces: size)
            #expect(second.status == .badRequest)
        }
    }

    @Test func `what the standards allow is served`() async throws {
        try await Fixture.serve(echoRouter()) { fixture async throws in
            for text in [
                "GET http://localhost/hello HTTP/1.1\r\n\(Self.host)\r\n", "GET HTTPS://x:1/hello?q HTTP/1.1\r\n\(Self.host)\r\n",
                "\r\nGET /hello HTTP/1.1\r\n\(Self.host)\r\n", "GET /hello HTTP/1.1\r\nHost: [::1]:3001\r\n\r\n",
                "GET /hello HTTP/1.1\r\nHost:\r\n\r\n",
                Self.get("Host: localhost\r\nA: \tb\u{e9} c \t\r\nX!#$%&'*+-.^_`|~0: y\r\n"), "GET /hello HTTP/1.0\r\n\r\n",
            ] {
                #expect(try await fixture.raw(text).text == "hello", "\(text)")
            }
            #expect(
                try await fixture.raw(
                    Self.chunked("5;name=value\r\nhello\r\n00002\r\n, \r\nA\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n")
                ).text == "hello, 0123456789")
        }
    }
}
