import EventLog
import EventSchema
import HTTP
import JSON
import Postgres
import Runtime
import Testing

@testable import GatewayService

@Suite struct `Every request` {
    @Test(arguments: ["{", "", "[1,]", #"{"a":1,"a":2}"#, "\u{feff}{}", "nul", #"{"a":"\ud800"}"#, "{} {}"])
    func `with malformed JSON is a validation error without fields`(body: String) async {
        let response = await TestGateway().send(body.isEmpty ? " " : body)
        #expect(response.status == .badRequest)
        #expect(response.code == "VALIDATION_ERROR")
        #expect(response.fields.isEmpty)
        #expect(response.message == "The body is not valid JSON.")
    }

    @Test func `with bytes that are not UTF-8 is a validation error`() async {
        let bytes = Array(#"{"channel":""#.utf8) + [0xff] + Array(#""}"#.utf8)
        let response = await TestGateway().client.send(
            ClientRequest(.post, "/api/verification/send", headers: ["Content-Type": "application/json"], body: bytes))
        #expect(response.status == .badRequest)
    }

    @Test(arguments: ["[]", "1", "null", #""text""#])
    func `with JSON that is no object is a validation error`(body: String) async {
        let response = await TestGateway().send(body)
        #expect(response.status == .badRequest)
        #expect(response.message == "The body must be a JSON object.")
    }

    @Test func `without a body counts as an empty object and needs no content type`() async {
        let response = await TestGateway().client.send(ClientRequest(.post, "/api/verification/send"))
        #expect(response.status == .badRequest)
        #expect(response.fields == ["channel", "identifier", "purpose"])
    }

    @Test(arguments: ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", "application/json, text/plain", ""])
    func `with a body of another type is refused`(type: String) async {
        let response = await TestGateway().send(TestGateway.send, headers: ["Content-Type": type])
        #expect(response.status == .unsupportedMediaType)
        #expect(response.code == "UNSUPPORTED_MEDIA_TYPE")
    }

    @Test(arguments: ["application/json", "Application/JSON; charset=utf-8", "application/json;charset=\"UTF-8\"; v=1"])
    func `may have parameters on its content type`(type: String) async {
        #expect(await TestGateway().send(TestGateway.send, headers: ["Content-Type": type]).status == .ok)
    }

    @Test func `may have a body of 64 KiB and not a byte more`() async {
        let gateway = TestGateway()
        let padding = String(repeating: " ", count: 64 * 1_024 - TestGateway.send.utf8.count)
        #expect(await gateway.send(TestGateway.send + padding).status == .ok)
        let response = await gateway.send(TestGateway.send + padding + " ")
        #expect(response.status == .payloadTooLarge)
        #expect(response.code == "PAYLOAD_TOO_LARGE")
    }

    @Test func `to nowhere is not found`() async {
        let response = await TestGateway().client.send(.get("/api/nothing"))
        #expect(response.status == .notFound)
        #expect(response.code == "NOT_FOUND")
    }

    @Test func `with another method is told which there is`() async {
        let response = await TestGateway().client.send(.get("/api/verification/send"))
        #expect(response.status == .methodNotAllowed)
        #expect(response.code == "METHOD_NOT_ALLOWED")
        #expect(response.headers["Allow"] == "OPTIONS, POST")
    }

    @Test(arguments: [
        ("abc-1_2.Z", true), (String(repeating: "x", count: 64), true), (String(repeating: "x", count: 65), false),
        ("a b", false), ("", false),
    ])
    func `keeps its id where that is well-formed`(id: String, isKept: Bool) async throws {
        let response = await TestGateway().send(TestGateway.send, headers: ["X-Request-Id": id])
        let answered = try #require(response.headers["X-Request-Id"])
        #expect((answered == id) == isKept)
        #expect(!answered.isEmpty)
    }

    @Test func `must not be stored by anybody`() async {
        let gateway = TestGateway()
        for response in [await gateway.send(TestGateway.send), await gateway.send("{"), await gateway.client.send(.get("/"))] {
            #expect(response.headers["Cache-Control"] == "no-store")
            #expect(response.headers["Content-Type"] == "application/json")
        }
    }

    @Test func `past its deadline has an unknown outcome`() async {
        let gateway = TestGateway(deadline: .milliseconds(20))
        gateway.path.answer { _ in
            try await Task.sleep(for: .seconds(60))
            return Reply(outcome: .ok)
        }
        let response = await gateway.send(TestGateway.send)
        #expect(response.status == .gatewayTimeout)
        #expect(response.code == "TIMEOUT")
        #expect(response.message == "No answer in time. The outcome is unknown.")
    }

    @Test func `over the number in flight is refused at once`() async throws {
        let gateway = TestGateway(inFlightLimit: 1)
        let (started, hold) = (AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream())
        gateway.path.answer { _ in
            started.continuation.yield()
            for await _ in hold.stream { break }
            return Reply(outcome: .ok)
        }
        async let first = gateway.send(TestGateway.send)
        for await _ in started.stream { break }
        let second = await gateway.send(TestGateway.send)
        #expect(second.status == .serviceUnavailable)
        #expect(second.code == "UNAVAILABLE")
        #expect(second.headers["Retry-After"] == "1")
        hold.continuation.finish()
        #expect(await first.status == .ok)
    }

    @Test func `is told to come back where Postgres or the log is away`() async {
        let errors: [any Error] = [
            PostgresError(.unavailable, "away"), PostgresError(.exhausted, ""), PostgresError(.timedOut, ""),
            PostgresError(.refused, state: .undefinedTable, ""), LogError(.unavailable, "away"), APIError.unavailable,
        ]
        for error in errors {
            let gateway = TestGateway()
            gateway.path.answer { _ in throw error }
            let response = await gateway.send(TestGateway.send)
            #expect(response.status == .serviceUnavailable)
            #expect(response.headers["Retry-After"] == "1")
        }
    }

    @Test func `that fails unexpectedly tells nobody why`() async {
        struct Surprise: Error, CustomStringConvertible { var description: String { "user@example.com" } }
        let gateway = TestGateway()
        gateway.path.answer { _ in throw Surprise() }
        let response = await gateway.send(TestGateway.send)
        #expect(response.text == #"{"success":false,"error":{"code":"INTERNAL_ERROR","message":"Something went wrong."}}"#)
        #expect(gateway.logs.text.contains("Surprise"))
        #expect(!gateway.logs.text.contains("user@example.com"))
    }

    @Test func `leaves nobody's data in the logs or metrics`() async throws {
        let gateway = TestGateway(rates: [.send: Rate(1, per: .seconds(60))], peer: try #require(IPAddress("192.0.2.77")))
        _ = await gateway.send(TestGateway.send, headers: ["X-Request-Id": "abc"])
        _ = await gateway.send(TestGateway.send)
        _ = await gateway.confirm(TestGateway.confirm)
        _ = await gateway.client.send(.get("/api/user@example.com?code=123456"))
        for text in [gateway.logs.text, gateway.metrics.render()] {
            for secret in ["user@example.com", "123456", "192.0.2.77"] { #expect(!text.contains(secret)) }
        }
        #expect(gateway.logs.entries.count == 4)
        #expect(gateway.logs.entries.first?["requestId"] == .text("abc"))
        #expect(gateway.logs.entries.first?["client"] == .outline("192.0.***"))
        let rendered = gateway.metrics.render()
        #expect(rendered.contains(#"latchkey_http_requests_total{method="POST",route="/api/verification/send",status="200"} 1"#))
        #expect(rendered.contains(#"latchkey_http_requests_total{method="GET",route="none",status="404"} 1"#))
        #expect(rendered.contains(#"latchkey_limit_refusals_total{limit="send"} 1"#))
    }

    @Test func `from a browser is allowed for exactly the configured origins`() async {
        let gateway = TestGateway(cors: CORSPolicy(origins: ["https://app.example.com"]))
        let allowed = await gateway.send(TestGateway.send, headers: ["Origin": "https://app.example.com"])
        #expect(allowed.headers["Access-Control-Allow-Origin"] == "https://app.example.com")
        let strange = await gateway.send(TestGateway.send, headers: ["Origin": "https://app.example.com.evil.example"])
        #expect(strange.status == .ok)
        #expect(strange.headers["Access-Control-Allow-Origin"] == nil)
        let preflight = await gateway.client.send(
            ClientRequest(
                .options, "/api/verification/send",
                headers: ["Origin": "https://app.example.com", "Access-Control-Request-Method": "POST"]))
        #expect(preflight.status == .noContent)
        #expect(preflight.headers["Access-Control-Allow-Methods"]?.contains("POST") == true)
        #expect(preflight.headers["Access-Control-Allow-Headers"]?.contains("Idempotency-Key") == true)

        let closed = await TestGateway().send(TestGateway.send, headers: ["Origin": "https://app.example.com"])
        #expect(closed.headers["Access-Control-Allow-Origin"] == nil)
    }
}
