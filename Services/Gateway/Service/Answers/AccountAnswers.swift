import EventSchema
import HTTP
import JSON

/// The objects of the contract that answers about accounts are made of. What was sealed in a reply stands beside the object
/// that it belongs to.
enum AccountAnswers {
    /// `user`.
    static func user(_ data: JSON?) -> JSON {
        let user = data?["user"]
        return [
            "id": user?["id"] ?? .null, "email": data?["email"] ?? .null, "phoneNumber": data?["phoneNumber"] ?? .null,
            "emailVerifiedAt": user?["emailVerifiedAt"] ?? .null, "phoneVerifiedAt": user?["phoneVerifiedAt"] ?? .null,
            "createdAt": user?["createdAt"] ?? .null, "profile": data?["profile"] ?? [:], "groups": user?["groups"] ?? [],
        ]
    }

    /// `session` of an onboarding, with the profile where it is told.
    static func onboarding(_ data: JSON?) -> JSON {
        let session = data?["session"]
        var answer: JSONObject = ["id": session?["id"] ?? .null, "status": session?["status"] ?? .null]
        let isPhone = session?["phoneVerifiedAt"] != nil
        let (name, stamp) = isPhone ? ("phoneNumber", "phoneVerifiedAt") : ("email", "emailVerifiedAt")
        answer[name] = data?[name] ?? .null
        answer[stamp] = session?[stamp] ?? .null
        answer["expiresAt"] = session?["expiresAt"] ?? .null
        answer["profile"] = data?["profile"]
        return .object(answer)
    }

    /// The tokens of somebody who is signed in from now on.
    ///
    /// - Parameter device: the token that the client has already.
    static func signedIn(_ data: JSON?, device: String? = nil) -> JSON {
        var answer = tokens(data)
        answer["deviceToken"] = data?["deviceToken"] ?? device.map { .string($0) } ?? .null
        answer["user"] = user(data)
        return .object(answer)
    }

    static func tokens(_ data: JSON?) -> JSONObject {
        [
            "accessToken": data?["accessToken"] ?? .null, "refreshToken": data?["refreshToken"] ?? .null, "tokenType": "Bearer",
            "expiresIn": data?["expiresIn"] ?? .null,
        ]
    }

    /// What a reply is to the client, where success is made of its data.
    static func response(_ success: @escaping @Sendable (JSON?) -> Response) -> @Sendable (Reply) -> Response {
        { reply in APIError(reply)?.response ?? success(reply.data) }
    }
}
