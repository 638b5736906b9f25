import HTTP
import JSON

extension Response {
    /// `{"success":true}`.
    static let success = Response.json(["success": true])

    /// `{"success":true,"message":"…"}`.
    static func success(message: String) -> Response { .json(["success": true, "message": .string(message)]) }

    /// `{"success":true,"data":{…}}`.
    static func success(_ data: JSON, status: HTTPStatus = .ok) -> Response {
        .json(["success": true, "data": data], status: status)
    }
}
