import EventSchema
import HTTP
import JSON
import Runtime

/// The HTTP contract for machines: OpenAPI 3.1, made from the same names as the code.
enum OpenAPIDocument {
    static func make(_ channels: VerificationChannels) -> JSON {
        var paths: JSONObject = [
            "/api/verification/send": ["post": send(channels)],
            "/api/verification/confirm": ["post": confirm(channels)],
        ]
        for (path, operations) in accounts(channels) { paths[path] = operations }
        for (path, operations) in operational { paths[path] = operations }
        var schemas = accountSchemas
        schemas["Error"] = error
        schemas["Success"] = success(optional: ["message": ["type": "string"]])
        return [
            "openapi": "3.1.0", "info": ["title": "Latchkey", "version": .string(Version.current)], "paths": .object(paths),
            "components": [
                "schemas": .object(schemas), "parameters": parameters, "headers": headers,
                "securitySchemes": ["bearer": ["type": "http", "scheme": "bearer", "bearerFormat": "JWT"]],
            ],
        ]
    }

    private static let operational: JSONObject = [
        "/healthz": ["get": operation("Whether the process answers", text: ["200": "It does"])],
        "/readyz": [
            "get": operation("Whether requests can be served", text: ["200": "They can", "503": "What is waited for"])
        ],
        "/metrics": ["get": operation("Metrics for Prometheus", text: ["200": "Text exposition format 0.0.4"])],
        "/openapi.json": ["get": ["summary": "This document", "responses": ["200": ["description": "OpenAPI 3.1"]]]],
    ]

    // MARK: Operations

    private static func send(_ channels: VerificationChannels) -> JSON {
        let data: JSON = object(["expiresIn": ["type": "integer", "description": "Seconds that the code is good"]])
        return operation(
            "Send a one-time code",
            "The answer is the same whether or not a code was sent: past a budget, or for an account that is not there, none is.",
            fields: [
                "channel": choice(channels.channels.map(\.rawValue)),
                "identifier": ["type": "string", "description": "E-mail address or phone number"],
                "purpose": choice(channels.purposes.map(\.rawValue)),
            ],
            answer: success(["data": data]), errors: [.validation])
    }

    private static func confirm(_ channels: VerificationChannels) -> JSON {
        operation(
            "Confirm a one-time code", "The code is consumed, and its address counts as verified.",
            fields: [
                "identifier": ["type": "string", "description": "As given to send"],
                "code": ["type": "string", "pattern": "^\\s*[0-9]{6}\\s*$"],
                "purpose": choice(channels.purposes.map(\.rawValue)),
            ],
            answer: ["$ref": "#/components/schemas/Success"], errors: [.validation, .invalidOTP, .maxAttemptsExceeded])
    }

    /// - Parameters:
    ///   - fields: of the body; without any there is none.
    ///   - parameter: in the path.
    ///   - bearer: whether a token has to be presented.
    ///   - errors: those of the endpoint itself; what every endpoint has is added.
    static func operation(
        _ summary: String, _ description: String, fields: JSONObject = [:], optional: Set<String> = [], parameter: String? = nil,
        status: Int = 200, answer: JSON, bearer: Bool = false, errors: [ErrorCode] = []
    ) -> JSON {
        let all: [ErrorCode] =
            errors + (bearer ? [.unauthenticated] : []) + [
                .payloadTooLarge, .unsupportedMediaType, .idempotencyConflict, .rateLimited, .internalError, .unavailable,
                .timeout,
            ]
        var responses: JSONObject = ["\(status)": response("Success", answer)]
        for (status, codes) in Dictionary(grouping: all, by: \.status).sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            let names = codes.map(\.rawValue).joined(separator: ", ")
            responses[status.description] = response(
                names, ["$ref": "#/components/schemas/Error"],
                retryAfter: codes.contains(.rateLimited) || codes.contains(.unavailable))
        }
        var named = parameters.object?.keys.map { ["$ref": "#/components/parameters/\($0)"] as JSON } ?? []
        if let parameter {
            named.append(["name": .string(parameter), "in": "path", "required": true, "schema": ["type": "string"]])
        }
        var operation: JSONObject = [
            "summary": .string(summary), "description": .string(description), "parameters": .array(named),
        ]
        if !fields.isEmpty {
            let body = object(fields, optional: optional)
            operation["requestBody"] = ["required": true, "content": ["application/json": ["schema": body]]]
        }
        operation["responses"] = .object(responses)
        if bearer { operation["security"] = [["bearer": []]] }
        return .object(operation)
    }

    private static func operation(_ summary: String, text responses: KeyValuePairs<String, String>) -> JSON {
        let all = responses.map { status, description -> (String, JSON) in
            let schema: JSON = ["schema": ["type": "string"]]
            return (status, ["description": .string(description), "content": ["text/plain": schema]])
        }
        return ["summary": .string(summary), "responses": .object(JSONObject(all))]
    }

    private static func response(_ description: String, _ schema: JSON, retryAfter: Bool = false) -> JSON {
        var sent: JSONObject = ["X-Request-Id": ["$ref": "#/components/headers/X-Request-Id"]]
        if retryAfter { sent["Retry-After"] = ["$ref": "#/components/headers/Retry-After"] }
        return [
            "description": .string(description), "headers": .object(sent), "content": ["application/json": ["schema": schema]],
        ]
    }

    // MARK: Components

    private static let parameters: JSON = [
        "X-Device-Token": [
            "name": .string(KnownDevice.header), "in": "header", "schema": ["type": "string"],
            "description": "As an answer that signs in gave it: a device of the account has budgets of its own.",
        ],
        "Idempotency-Key": [
            "name": .string(IdempotentRequest.header), "in": "header",
            "schema": ["type": "string", "minLength": 1, "maxLength": 255],
            "description": "For an hour the same request under the same key gets the first outcome.",
        ],
        "X-Request-Id": ["name": "X-Request-Id", "in": "header", "schema": requestID],
        "X-Client-Type": ["name": "X-Client-Type", "in": "header", "schema": ["type": "string"]],
        "traceparent": ["name": "traceparent", "in": "header", "schema": ["type": "string"]],
    ]

    private static let headers: JSON = [
        "X-Request-Id": ["schema": requestID],
        "Retry-After": ["schema": ["type": "integer", "minimum": 1], "description": "Seconds"],
    ]

    private static let requestID: JSON = ["type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$"]

    private static let error: JSON = object([
        "success": ["const": false],
        "error": object(
            [
                "code": choice(ErrorCode.allCases.map(\.rawValue)), "message": ["type": "string"],
                "fields": [
                    "type": "array", "description": "Every wrong field; with VALIDATION_ERROR",
                    "items": object(["path": ["type": "string"], "message": ["type": "string"]]),
                ],
            ], optional: ["fields"]),
    ])

    static func success(_ more: JSONObject = [:], optional: JSONObject = [:]) -> JSON {
        var members: JSONObject = ["success": ["const": true]]
        for part in [more, optional] { for (name, schema) in part { members[name] = schema } }
        return object(members, optional: Set(optional.keys))
    }

    static func object(_ properties: JSONObject, optional: Set<String> = []) -> JSON {
        let required = properties.keys.filter { !optional.contains($0) }.map { JSON.string($0) }
        return ["type": "object", "required": .array(required), "properties": .object(properties)]
    }

    private static func choice(_ values: [String]) -> JSON { ["type": "string", "enum": .array(values.map { .string($0) })] }
}
