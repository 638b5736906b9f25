import Runtime

/// The id of a request: the client's where it is 1–64 characters of `A-Za-z0-9._-`, else 16 random hexadecimal digits.
enum RequestID {
    static let header = "X-Request-Id"

    static func of(_ headers: Headers) -> String {
        if let given = headers[header], isValid(given) { return given }
        return WorkID.hexadecimal()
    }

    static func isValid(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x5f: true
                default: false
                }
            }
    }
}
