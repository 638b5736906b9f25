public import JSON

extension Request {
    /// The body as JSON, for endpoints that take JSON: an empty body counts as `{}` and needs no content type; any other
    /// body has to be `application/json`, with whatever parameters.
    ///
    /// Throws `HTTPFailure.unsupportedMediaType` or `.malformedBody` (not RFC 8259, not UTF-8).
    public func json() throws(HTTPFailure) -> JSON {
        guard !body.isEmpty else { return .object([:]) }
        guard headers.count(of: "Content-Type") == 1, isJSON(headers["Content-Type"] ?? "") else { throw .unsupportedMediaType }
        do {
            return try JSON.parse(body)
        } catch {
            throw .malformedBody
        }
    }
}

/// `application/json`, perhaps with parameters. Text is UTF-8 whatever a charset says, so another charset is another type.
private func isJSON(_ contentType: String) -> Bool {
    let parts = contentType.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).map { trimmed($0) }
    guard Headers.same(parts[0], "application/json") else { return false }
    return parts.dropFirst().allSatisfy { parameter in
        let pair = parameter.split(separator: "=", maxSplits: 1)
        guard pair.count == 2, Headers.same(String(pair[0]), "charset") else { return true }
        return ["utf-8", "\"utf-8\"", "utf8"].contains(pair[1].lowercased())
    }
}

extension Response {
    /// An answer in JSON.
    public static func json(_ value: JSON, status: HTTPStatus = .ok, headers: Headers = [:]) -> Response {
        var headers = headers
        headers.setDefault("Content-Type", "application/json")
        return Response(status, headers: headers, body: value.serialized())
    }
}
