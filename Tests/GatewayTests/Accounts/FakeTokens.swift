import Crypto
import EventSchema
import JSON
import Synchronization

@testable import GatewayService

/// Signs tokens as Identity would.
final class FakeTokens: PublishedKeys {
    static let issuer = "http://localhost:3001"
    static let now = Timestamp(milliseconds: 1_800_000_000_000)

    let signer = SigningKey.random(.es256)
    private let loads = Mutex(0)

    var loadCount: Int { loads.withLock { $0 } }
    var keys: TokenKeys { TokenKeys(self) }

    func verifier(_ revocations: any Revocations) -> TokenVerifier {
        TokenVerifier(keys: keys, revocations: revocations, issuer: Self.issuer, audience: Self.issuer, now: { Self.now })
    }

    func load() async throws -> [PublishedKey] {
        loads.withLock { $0 += 1 }
        return [PublishedKey(id: "one", key: signer.publicKey)]
    }

    func access(_ caller: Caller, changing claims: JSONObject = [:], type: String = "at+jwt", keyID: String = "one") -> String {
        var all: JSONObject = [
            "iss": .string(Self.issuer), "aud": .string(Self.issuer), "sub": .string(caller.user.text),
            "sid": .string(caller.session.text), "exp": .integer(Self.now.milliseconds / 1_000 + 900),
        ]
        for name in claims.keys { all[name] = claims[name] }
        return JSONWebToken.signed(all, type: type, keyID: keyID, by: signer)
    }

    func onboarding(_ session: OnboardingSessionID) -> String {
        JSONWebToken.signed(
            [
                "iss": .string(Self.issuer), "aud": .string(Self.issuer + "/api/onboarding"), "sub": .string(session.text),
                "exp": .integer(Self.now.milliseconds / 1_000 + 60),
            ], type: "onboarding+jwt", keyID: "one", by: signer)
    }
}

/// Sessions that a test has ended.
final class FakeRevocations: Revocations {
    private let ended = Mutex<Set<SessionID>>([])
    private let waited = Mutex<[SessionID]>([])

    func end(_ session: SessionID) { ended.withLock { _ = $0.insert(session) } }
    var settled: [SessionID] { waited.withLock { $0 } }

    func isEnded(_ session: SessionID, of user: UserID) async throws -> Bool { ended.withLock { $0.contains(session) } }
    func settle(_ sessions: [SessionID]) async { waited.withLock { $0 += sessions } }
}

/// Devices of accounts.
final class FakeDevices: DeviceDirectory {
    private let owners = Mutex<[Digest: UserID]>([:])
    private let looked = Mutex<[Digest]>([])

    func add(_ device: Digest, of user: UserID) { owners.withLock { $0[device] = user } }
    var asked: [Digest] { looked.withLock { $0 } }

    func owner(of device: Digest) async throws -> UserID? {
        looked.withLock { $0.append(device) }
        return owners.withLock { $0[device] }
    }
}
