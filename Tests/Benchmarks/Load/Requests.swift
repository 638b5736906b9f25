/// The requests, as they go over the wire. Every identifier comes from a client address of its own, so that no limit binds.
enum Requests {
    static let healthz = Array("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)

    static func send(_ number: UInt32) -> [UInt8] {
        post(
            "/api/verification/send", from: number,
            #"{"channel":"email","identifier":"n\#(number)@bench.example","purpose":"email_verification"}"#)
    }

    static func confirm(_ number: UInt32, _ code: [UInt8]) -> [UInt8] {
        let code = String(decoding: code, as: UTF8.self)
        return post(
            "/api/verification/confirm", from: number,
            #"{"identifier":"n\#(number)@bench.example","code":"\#(code)","purpose":"email_verification"}"#)
    }

    static func post(_ path: String, from number: UInt32, _ body: String) -> [UInt8] {
        let address = "10.\(number >> 16 & 255).\(number >> 8 & 255).\(number & 255)"
        return Array(
            """
            POST \(path) HTTP/1.1\r
            Host: localhost\r
            Content-Type: application/json\r
            X-Forwarded-For: \(address)\r
            Content-Length: \(body.utf8.count)\r
            \r
            \(body)
            """.utf8)
    }
}
