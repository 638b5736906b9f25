import Foundation
import Runtime
import Testing

@testable import HTTP

private let hasTools = ["openssl", "curl"].allSatisfy { FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)") }

/// Served to outside programs: `openssl` makes the certificates, `curl` is the client.
@Suite(.timeLimit(.minutes(2)), .enabled(if: hasTools, "needs openssl and curl")) struct TLSTests {
    private static let thread = BlockingPool(name: "tls-tests", threads: 4)

    /// What a program printed, and its exit status.
    private func run(_ program: String, _ arguments: [String], input: String = "") async throws -> (text: String, status: Int32) {
        try await Self.thread.run {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/\(program)")
            process.arguments = arguments
            let output = Pipe()
            let source = Pipe()
            process.standardOutput = output
            process.standardError = output
            process.standardInput = source
            try process.run()
            source.fileHandleForWriting.write(Data(input.utf8))
            try source.fileHandleForWriting.close()
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            return (text, process.terminationStatus)
        }
    }

    private func withFolder(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "latchkey-tls-\(UInt64.random(in: 0 ... .max))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for name in ["a", "b"] {
            let made = try await run(
                "openssl",
                [
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
                    "-keyout", "\(folder.path)/\(name).key", "-out", "\(folder.path)/\(name).pem",
                ])
            try #require(made.status == 0, "\(made.text)")
        }
        try await body(folder.path)
    }

    @Test func `requests come over TLS, bodies, waiting handlers and refusals included`() async throws {
        try await withFolder { folder in
            var router = echoRouter()
            router.get("/secure") { request, _ in .text("\(request.isSecure)") }
            let settings = Fixture.settings { $0.tls = .init(certificateFile: "\(folder)/a.pem", keyFile: "\(folder)/a.key") }
            try await Fixture.serve(router, settings: settings) { fixture async throws in
                let base = "https://127.0.0.1:\(fixture.port)"
                let curl = ["-sS", "--max-time", "20", "--cacert", "\(folder)/a.pem"]
                // One connection for all of them.
                let several = try await run("curl", curl + ["\(base)/hello", "\(base)/later", "\(base)/secure"])
                #expect(several.text == "hellolatertrue")
                let body = String(repeating: "y", count: 60_000)
                #expect(try await run("curl", curl + ["--data-binary", "@-", "\(base)/echo"], input: body).text == body)
                let chunked = curl + ["-H", "Transfer-Encoding: chunked", "--data-binary", "@-", "\(base)/echo"]
                #expect(try await run("curl", chunked, input: "pieces").text == "pieces")
                let large = curl + ["-o", "/dev/null", "-w", "%{http_code}", "--data-binary", "@-", "\(base)/echo"]
                #expect(try await run("curl", large, input: body + body).text == "413")
                // A stranger's certificate is not accepted by the client: the one sent is really ours.
                #expect(try await run("curl", ["-sS", "--cacert", "\(folder)/b.pem", "\(base)/hello"]).status != 0)
            }
        }
    }

    @Test func `old versions of TLS and plain HTTP get nothing`() async throws {
        try await withFolder { folder in
            let settings = Fixture.settings { $0.tls = .init(certificateFile: "\(folder)/a.pem", keyFile: "\(folder)/a.key") }
            try await Fixture.serve(echoRouter(), settings: settings) { fixture async throws in
                func handshake(_ version: String) async throws -> String {
                    try await run(
                        "openssl", ["s_client", "-connect", "127.0.0.1:\(fixture.port)", version, "-cipher", "ALL:@SECLEVEL=0"]
                    ).text
                }
                #expect(try await handshake("-tls1_3").contains("Cipher is TLS_"))
                #expect(try await handshake("-tls1_2").contains("Cipher is ECDHE-"))
                #expect(try await handshake("-tls1_1").contains("Cipher is (NONE)"))
                #expect(try await handshake("-tls1").contains("Cipher is (NONE)"))
                let plain = try await fixture.connect()
                try await plain.send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n")
                await #expect(throws: ClientError.self) { try await plain.receive() }
            }
        }
    }

    @Test func `a client that does not finish its handshake is cut off, and a stop is not held up`() async throws {
        try await withFolder { folder in
            let settings = Fixture.settings {
                $0.tls = .init(certificateFile: "\(folder)/a.pem", keyFile: "\(folder)/a.key")
                $0.headerTimeout = .milliseconds(80)
            }
            try await Fixture.serve(echoRouter(), settings: settings) { fixture async throws in
                let silent = try await fixture.connect()
                #expect(try await silent.isClosed())
                let half = try await fixture.connect()
                try await half.send([0x16, 0x03, 0x01, 0x02])
                #expect(try await half.isClosed())
            }
        }
    }

    @Test func `files that cannot be used are named`() async throws {
        try await withFolder { folder in
            func error(_ certificate: String, _ key: String) -> String {
                let settings = Fixture.settings {
                    $0.tls = .init(certificateFile: "\(folder)/\(certificate)", keyFile: "\(folder)/\(key)")
                }
                do {
                    try HTTPServer(HTTPApplication(router: Router()), settings).start()
                    return "started"
                } catch {
                    return "\(error)".replacingOccurrences(of: folder, with: "")
                }
            }
            #expect(error("none.pem", "a.key") == "cannot read /none.pem: No such file or directory")
            #expect(error("a.pem", "none.key") == "cannot read /none.key: No such file or directory")
            #expect(error("a.pem", "b.key") == "certificate /a.pem with key /b.key cannot be used for TLS")
            #expect(error("a.key", "a.key") == "certificate /a.key with key /a.key cannot be used for TLS")
        }
    }
}
