import Crypto
import EventSchema
import HTTP
import Synchronization
import TestSupport
import Testing

@testable import GatewayService

@Suite struct `An access token that was verified` {
    private let memory = VerifiedTokens(limit: 3)
    private let caller = Caller(user: TestGateway().user().user, session: .random())
    private let token = Digest(of: [1])

    private func at(_ seconds: Int64) -> Timestamp { Timestamp(milliseconds: seconds * 1_000) }

    @Test func `is known until it expires`() {
        memory.keep(caller, of: token, until: 100, keys: 1)
        #expect(memory.caller(of: token, at: at(99), keys: 1) == caller)
        #expect(memory.caller(of: Digest(of: [2]), at: at(99), keys: 1) == nil)
        #expect(memory.caller(of: token, at: at(100), keys: 1) == nil)
        // And not again.
        #expect(memory.caller(of: token, at: at(99), keys: 1) == nil)
    }

    @Test func `is checked again with other keys`() {
        memory.keep(caller, of: token, until: 100, keys: 1)
        #expect(memory.caller(of: token, at: at(0), keys: 2) == nil)
    }

    @Test func `goes when there are too many, the oldest first`() {
        for number in UInt8(1)...5 { memory.keep(caller, of: Digest(of: [number]), until: 100, keys: 1) }
        let known = (UInt8(1)...5).map { memory.caller(of: Digest(of: [$0]), at: at(0), keys: 1) != nil }
        #expect(known == [false, false, true, true, true])
    }

    @Test func `of a session that has ended lets nobody in`() async {
        let gateway = TestGateway()
        let caller = gateway.user()
        gateway.path.answer { _ in TestGateway.signedIn }
        let token = gateway.tokens.access(caller)
        #expect(await gateway.send(.get, "/auth/me", token: token).status == .ok)
        #expect(await gateway.send(.get, "/auth/me", token: token).status == .ok)
        gateway.revocations.end(caller.session)
        #expect(await gateway.send(.get, "/auth/me", token: token).status == .unauthorized)
    }

    @Test func `lets nobody in once its key was retired, or it has expired`() async throws {
        let source = TurningKeys()
        let time = Mutex(FakeTokens.now)
        let verifier = TokenVerifier(
            keys: TokenKeys(source, lifetime: .zero, pause: .zero), revocations: FakeRevocations(), issuer: FakeTokens.issuer,
            audience: FakeTokens.issuer, now: { time.withLock { $0 } })
        let token = source.tokens.access(caller)
        #expect(try await verifier.caller(presenting: token) == caller)
        #expect(try await verifier.caller(presenting: token) == caller)
        time.withLock { $0 = Timestamp(milliseconds: $0.milliseconds + 900_000) }
        await #expect(throws: APIError.self) { try await verifier.caller(presenting: token) }
        time.withLock { $0 = FakeTokens.now }
        #expect(try await verifier.caller(presenting: token) == caller)
        source.retire()
        await #expect(throws: APIError.self) { try await verifier.caller(presenting: token) }
    }

    @Test func `lets nobody in soon after its key was taken away`() async throws {
        let source = TurningKeys()
        let verifier = TokenVerifier(
            keys: TokenKeys(source), revocations: FakeRevocations(), issuer: FakeTokens.issuer, audience: FakeTokens.issuer,
            now: { FakeTokens.now })
        let token = source.tokens.access(caller)
        #expect(try await verifier.caller(presenting: token) == caller)
        source.retire()
        // A second is promised; machines that are slow get some more.
        #expect(
            try await waitUntil(within: .seconds(15)) {
                do { _ = try await verifier.caller(presenting: token) } catch is APIError { return true }
                return false
            })
    }
}

/// Keys of which one is taken away.
private final class TurningKeys: PublishedKeys {
    let tokens = FakeTokens()
    private let isRetired = Mutex(false)

    func retire() { isRetired.withLock { $0 = true } }

    func load() async throws -> [PublishedKey] {
        let key = isRetired.withLock { $0 } ? SigningKey.random(.es256).publicKey : tokens.signer.publicKey
        return [PublishedKey(id: isRetired.withLock { $0 } ? "two" : "one", key: key)]
    }
}
