import Crypto
import HTTP
import JSON

/// The keys of everything that is kept about requests with an `Idempotency-Key`, all derived from the gateways' secret.
struct IdempotencyKeys: Sendable {
    fileprivate let scope: HMACSHA256
    fileprivate let body: HMACSHA256
    fileprivate let command: HMACSHA256
    fileprivate let answer: Secret
    fileprivate let reply: Secret

    init(_ secret: Secret) {
        func derive(_ use: StaticString) -> Secret {
            HKDFSHA256.derive(secret: secret, info: Array("latchkey.gateway.idempotency.\(use).v1".utf8), count: 32)
        }
        scope = HMACSHA256(key: derive("scope"))
        body = HMACSHA256(key: derive("body"))
        command = HMACSHA256(key: derive("command"))
        answer = derive("answer")
        reply = derive("reply")
    }
}

/// A request with an `Idempotency-Key`: what it is known by, and what only its sender can open.
struct IdempotentRequest: Sendable {
    /// Says which request it is, by method, path, authorization and key, and which body it has.
    let name: RequestName
    private let answerKey: SymmetricKey
    private let replySecret: Secret
    private let command: HMACSHA256
    private let whole: [UInt8]

    init(_ request: Request, key: String, keys: IdempotencyKeys) {
        let target = [request.method.rawValue, request.path.raw].map { Array($0.utf8) }
        let authorization = SHA256.hash(Array(request.headers.values("Authorization").joined(separator: "\n").utf8))
        let subject = Self.digest(target + [authorization, Array(key.utf8)])
        whole = Self.digest([subject, SHA256.hash(request.body)])
        name = RequestName(scope: keys.scope.code(for: subject), body: keys.body.code(for: whole))
        answerKey = .derived(from: keys.answer, info: whole)
        replySecret = keys.reply
        command = keys.command
    }

    /// Opens the sealed part of replies, at any gateway that gets the request again.
    var replyPair: KeyPair { .derived(from: HKDFSHA256.derive(secret: replySecret, info: whole, count: KeyPair.count)) }

    /// What the ids of the request's commands are made from: the same for every holder of the request.
    func commandRoot(_ hold: Hold) -> [UInt8] { command.code(for: hold.scope + hold.nonce) }

    /// The key of a request that has one. Throws `VALIDATION_ERROR` unless it is 1–255 printable ASCII characters.
    static func key(of request: Request) throws(APIError) -> String? {
        let lines = request.method == .post ? request.headers.values(header) : []
        guard let key = lines.first else { return nil }
        guard lines.count == 1, 1...255 ~= key.utf8.count, key.utf8.allSatisfy({ 0x20...0x7e ~= $0 }) else {
            throw .invalid([FieldFault(header, "Must be one text of 1 to 255 printable ASCII characters.")])
        }
        return key
    }

    static let header = "Idempotency-Key"

    func seal(_ response: Response) -> [UInt8] {
        let headers = response.headers.map { JSON.array([.string($0.name), .string($0.value)]) }
        let kept: JSON = [
            "status": .integer(Int64(response.status.rawValue)), "headers": .array(headers),
            "body": .string(Base64URL.encode(response.body)),
        ]
        return answerKey.seal(kept.serialized(), context: name.scope)
    }

    /// `nil` for what this request cannot have been answered with.
    func open(_ sealed: [UInt8]) -> Response? {
        guard let bytes = answerKey.open(sealed, context: name.scope), let kept = try? JSON.parse(bytes),
            let status = kept["status"]?.int64, let body = kept["body"]?.string.flatMap({ Base64URL.decode($0) })
        else { return nil }
        var response = Response(HTTPStatus(rawValue: Int(status)), body: body)
        for field in kept["headers"]?.array ?? [] {
            guard let pair = field.array, pair.count == 2, let name = pair[0].string, let value = pair[1].string else {
                return nil
            }
            response.headers.append(name, value)
        }
        return response
    }

    /// SHA-256 over parts of any length, each behind its own.
    private static func digest(_ parts: [[UInt8]]) -> [UInt8] {
        var hash = SHA256()
        for part in parts {
            withUnsafeBytes(of: UInt64(part.count).bigEndian) { hash.update($0) }
            hash.update(part)
        }
        return hash.finalize()
    }
}
