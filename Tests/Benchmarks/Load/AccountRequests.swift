/// Requests about accounts, as they go over the wire: each from a client address of its own, so that no limit binds.
enum AccountRequests {
    struct Tokens {
        var access: [UInt8]
        var refresh: [UInt8]

        /// `nil` where the last answer has none.
        init?(in connection: LoadConnection) {
            guard let access = connection.text(behind: #""accessToken":""#),
                let refresh = connection.text(behind: #""refreshToken":""#)
            else { return nil }
            self.access = access
            self.refresh = refresh
        }
    }

    private static let password = "Correct-Horse-7"

    static func register(_ account: UInt32) -> [UInt8] {
        Requests.post("/api/auth/register", from: account, #"{"email":"\#(email(account))","password":"\#(password)"}"#)
    }

    static func logIn(_ account: UInt32, from address: UInt32) -> [UInt8] {
        Requests.post("/api/auth/login", from: address, #"{"email":"\#(email(account))","password":"\#(password)"}"#)
    }

    static func refresh(_ token: [UInt8], from address: UInt32) -> [UInt8] {
        Requests.post("/api/auth/refresh", from: address, #"{"refreshToken":"\#(text(token))"}"#)
    }

    static func me(_ token: [UInt8]) -> [UInt8] {
        Array("GET /api/auth/me HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(text(token))\r\n\r\n".utf8)
    }

    static func forgot(_ account: UInt32, from address: UInt32) -> [UInt8] {
        Requests.post("/api/auth/forgot-password", from: address, #"{"email":"\#(email(account))"}"#)
    }

    static func verify(_ account: UInt32, _ code: [UInt8], from address: UInt32) -> [UInt8] {
        Requests.post(
            "/api/auth/verify-reset-code", from: address, #"{"email":"\#(email(account))","code":"\#(text(code))"}"#)
    }

    static func reset(_ token: [UInt8], from address: UInt32) -> [UInt8] {
        Requests.post(
            "/api/auth/reset-password", from: address, #"{"resetToken":"\#(text(token))","newPassword":"\#(password)"}"#)
    }

    private static func email(_ account: UInt32) -> String { "n\(account)@bench.example" }
    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
