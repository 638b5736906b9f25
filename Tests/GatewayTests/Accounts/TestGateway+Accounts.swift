import Crypto
import EventSchema
import HTTP
import JSON

@testable import GatewayService

extension TestGateway {
    /// A user of the address, with a session of theirs.
    func user(_ email: String = "user@example.com") -> Caller {
        let caller = Caller(user: routing.userID(for: subject(email).routingKey), session: .random())
        accounts.add(AccountReference(user: caller.user, credentialVersion: 1), for: subject(email))
        return caller
    }

    /// A device of the user, as text.
    func device(of caller: Caller) -> String {
        let key = routing.routingKey(of: caller.user)
        let token = routing.token(kind: .device, reference: caller.user.bytes, for: key)
        devices.add(token.digest, of: caller.user)
        return token.text
    }

    func post(_ path: String, _ json: String = "{}", headers: Headers = [:]) async -> ClientResponse {
        await client.send(.post("/api" + path, json: json, headers: headers))
    }

    func send(_ method: HTTPMethod, _ path: String, _ json: String? = nil, as caller: Caller) async -> ClientResponse {
        await send(method, path, json, token: tokens.access(caller))
    }

    func send(_ method: HTTPMethod, _ path: String, _ json: String? = nil, token: String) async -> ClientResponse {
        var headers: Headers = ["Authorization": "Bearer \(token)"]
        if json != nil { headers["Content-Type"] = "application/json" }
        return await client.send(ClientRequest(method, "/api" + path, headers: headers, body: Array((json ?? "").utf8)))
    }

    /// The only command of this type.
    func asked<Command: Message>(_ type: Command.Type) -> Command? {
        path.commands.lazy.compactMap { $0.message as? Command }.last
    }

    /// What Identity and its check workers answer when somebody is signed in.
    static let signedIn = Reply(
        outcome: .ok,
        data: [
            "user": [
                "id": "u", "emailVerifiedAt": nil, "phoneVerifiedAt": nil, "createdAt": "2024-01-01T00:00:00.000Z", "groups": [],
            ], "email": "user@example.com", "phoneNumber": nil, "profile": ["displayName": "Zoe"], "accessToken": "a",
            "refreshToken": "r", "deviceToken": "d", "expiresIn": 900,
        ])

    static let signedInAnswer =
        #"{"accessToken":"a","refreshToken":"r","tokenType":"Bearer","expiresIn":900,"deviceToken":"d","user":{"#
        + #""id":"u","email":"user@example.com","phoneNumber":null,"emailVerifiedAt":null,"phoneVerifiedAt":null,"#
        + #""createdAt":"2024-01-01T00:00:00.000Z","profile":{"displayName":"Zoe"},"groups":[]}}"#
}
