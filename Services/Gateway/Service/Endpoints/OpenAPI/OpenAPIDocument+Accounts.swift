import EventSchema
import HTTP
import JSON

/// What the document says of the endpoints of accounts.
extension OpenAPIDocument {
    static func accounts(_ channels: VerificationChannels) -> JSONObject {
        let identifier: JSONObject = channels.hasSMS ? ["email": email, "phoneNumber": text] : ["email": email]
        let optional: Set<String> = channels.hasSMS ? ["email", "phoneNumber"] : []
        let signUp = identifier + ["password": newPassword, "code": code]
        let signedIn = data(["$ref": "#/components/schemas/SignedIn"])
        let user = data(object(["user": ref("User")]))
        let session = data(object(["session": ref("OnboardingSession")]))
        let profile = fields(ProfileFields.names)
        let refused: [ErrorCode] = [.validation, .invalidOTP, .maxAttemptsExceeded, .accountExists]
        return [
            "/api/onboarding/session": [
                "post": operation(
                    "Start an onboarding session", "A code, where one is given, is confirmed first.",
                    fields: signUp, optional: optional.union(["code"]), status: 201,
                    answer: data(object(["onboardingToken": text, "session": ref("OnboardingSession")])), errors: refused),
                "get": operation(
                    "The onboarding session", "With the onboarding token.", answer: session, bearer: true,
                    errors: [.onboardingCompleted]),
                "patch": operation(
                    "Change the profile", "A field given as null is removed.", fields: profile,
                    optional: Set(ProfileFields.names), answer: session, bearer: true,
                    errors: [.validation, .onboardingCompleted]),
            ],
            "/api/onboarding/complete": [
                "post": operation(
                    "Make a user of the session",
                    "Repeated within a minute it gives the same refresh token. Forbidden only where a proof is required.",
                    status: 201, answer: signedIn, bearer: true, errors: [.forbidden, .onboardingCompleted, .accountExists])
            ],
            "/api/auth/register": [
                "post": operation(
                    "Sign up at once", "A code, where one is given, is confirmed first.", fields: signUp + profile,
                    optional: optional.union(["code"]).union(ProfileFields.names), status: 201, answer: signedIn, errors: refused)
            ],
            "/api/auth/login": [
                "post": operation(
                    "Sign in", "The failure is the same for accounts that are not there.",
                    fields: identifier + ["password": text], optional: optional, answer: signedIn,
                    errors: [.validation, .invalidCredentials])
            ],
            "/api/auth/refresh": [
                "post": operation(
                    "The tokens after these", "A used token gets its successor once more for 30 seconds.",
                    fields: ["refreshToken": text], answer: data(ref("Tokens")), errors: [.validation, .refreshTokenInvalid])
            ],
            "/api/auth/logout": [
                "post": operation(
                    "End this session", "With an access token, or with a refresh token where that is over.",
                    fields: ["refreshToken": text], optional: ["refreshToken"], answer: ref("Success"), bearer: true,
                    errors: [.validation, .refreshTokenInvalid])
            ],
            "/api/auth/logout-all": [
                "post": operation("End all sessions", "This one too.", answer: ref("Success"), bearer: true)
            ],
            "/api/auth/me": [
                "get": operation("The user", "With all that is known of them.", answer: user, bearer: true),
                "patch": operation(
                    "Change the profile", "A field given as null is removed.", fields: profile,
                    optional: Set(ProfileFields.names), answer: user, bearer: true, errors: [.validation]),
                "delete": operation(
                    "Erase the user", "Nobody can read what is left.", fields: ["password": text], answer: ref("Success"),
                    bearer: true, errors: [.validation]),
            ],
            "/api/auth/sessions": [
                "get": operation(
                    "The live sessions", "Client addresses are masked.",
                    answer: data(object(["sessions": ["type": "array", "items": ["type": "object"]]])), bearer: true)
            ],
            "/api/auth/sessions/{id}": [
                "delete": operation(
                    "End a session", "One of the user's own.", parameter: "id", answer: ref("Success"), bearer: true,
                    errors: [.notFound])
            ],
            "/api/auth/change-password": [
                "post": operation(
                    "Change the password", "All other sessions end.",
                    fields: ["currentPassword": text, "newPassword": newPassword], answer: ref("Success"), bearer: true,
                    errors: [.validation])
            ],
            "/api/auth/forgot-password": [
                "post": operation(
                    "Send a code for a reset", "The answer is the same whether or not there is an account.",
                    fields: ["email": email], answer: ref("Success"), errors: [.validation])
            ],
            "/api/auth/verify-reset-code": [
                "post": operation(
                    "Turn the code into a reset token", "The code is consumed.", fields: ["email": email, "code": code],
                    answer: data(object(["resetToken": text, "expiresIn": ["type": "integer"]])),
                    errors: [.validation, .invalidOTP, .maxAttemptsExceeded])
            ],
            "/api/auth/reset-password": [
                "post": operation(
                    "Set a new password", "Every session of the user ends.",
                    fields: ["resetToken": text, "newPassword": newPassword], answer: ref("Success"),
                    errors: [.validation, .resetTokenInvalid])
            ],
            "/.well-known/jwks.json": [
                "get": ["summary": "Keys that access tokens are signed with", "responses": ["200": ["description": "RFC 7517"]]]
            ],
        ]
    }

    static let accountSchemas: JSONObject = {
        let tokens: JSONObject = [
            "accessToken": text, "refreshToken": text, "tokenType": ["const": "Bearer"], "expiresIn": ["type": "integer"],
        ]
        let maybe: JSON = ["type": ["string", "null"]]
        return [
            "Tokens": object(tokens), "SignedIn": object(tokens + ["deviceToken": text, "user": ref("User")]),
            "User": object([
                "id": text, "email": maybe, "phoneNumber": maybe, "emailVerifiedAt": maybe, "phoneVerifiedAt": maybe,
                "createdAt": text, "profile": ["type": "object"], "groups": ["type": "array", "items": text],
            ]),
            "OnboardingSession": object(
                [
                    "id": text, "status": ["const": "ACTIVE"], "email": text, "emailVerifiedAt": maybe, "phoneNumber": text,
                    "phoneVerifiedAt": maybe, "expiresAt": text, "profile": ["type": "object"],
                ], optional: ["email", "emailVerifiedAt", "phoneNumber", "phoneVerifiedAt", "profile"]),
        ]
    }()

    private static let text: JSON = ["type": "string"]
    private static let email: JSON = ["type": "string", "description": "E-mail address"]
    private static let code: JSON = ["type": "string", "pattern": "^\\s*[0-9]{6}\\s*$"]
    private static let newPassword: JSON = ["type": "string", "minLength": .integer(Int64(PasswordRule.minimumCount))]

    private static func ref(_ schema: String) -> JSON { ["$ref": .string("#/components/schemas/\(schema)")] }
    private static func data(_ schema: JSON) -> JSON { success(["data": schema]) }

    private static func fields(_ names: [String]) -> JSONObject {
        JSONObject(names.map { ($0, $0 == "custom" ? ["type": ["object", "null"]] : ["type": ["string", "null"]]) })
    }
}

/// The members of both.
private func + (left: JSONObject, right: JSONObject) -> JSONObject {
    var all = left
    for name in right.keys { all[name] = right[name] }
    return all
}
