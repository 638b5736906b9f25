import Synchronization

/// Seals messages to the public keys of others. The sender's pair is random, lives in memory only, and is replaced after a
/// day: after that nobody can open what it sealed but its recipients. Shared by any number of threads.
public final class BoxSealer: Sendable {
    private struct State {
        var pair: KeyPair
        var expires: ContinuousClock.Instant
        var secrets: SharedSecretCache<[UInt8]>
    }

    private let state: Mutex<State>
    private let lifetime: Duration
    private let capacity: Int
    private let now: @Sendable () -> ContinuousClock.Instant

    /// - Parameters:
    ///   - lifetime: how long one pair is used.
    ///   - capacity: how many recipients' shared secrets are kept.
    ///   - now: the clock, which tests move by hand.
    public init(
        lifetime: Duration = .seconds(86_400), capacity: Int = 4_096,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    ) {
        self.lifetime = lifetime
        self.capacity = capacity
        self.now = now
        state = Mutex(State(pair: .random(), expires: now() + lifetime, secrets: SharedSecretCache(capacity: capacity)))
    }

    /// - Parameter context: what the message belongs to. It is not in the box, and must be given again to open it.
    /// - Throws: `CryptoError` if the recipient's key or its id is malformed.
    public func seal(_ plaintext: [UInt8], to recipient: RecipientKey, context: [UInt8]) throws(CryptoError) -> Box {
        guard RecipientKey.isWellFormed(id: recipient.id) else { throw .malformedKeyID }
        let (pair, known) = current(for: recipient.publicKey)
        let secret: SharedSecret
        if let known {
            secret = known
        } else {
            // Outside the lock: it takes long. Two threads that compute the same one at once do no harm.
            secret = try SharedSecret(own: pair, peer: recipient.publicKey)
            state.withLock { state in
                if state.pair.publicKey == pair.publicKey { state.secrets.insert(secret, for: recipient.publicKey) }
            }
        }
        let data = Box.associatedData(keyID: recipient.id, sender: pair.publicKey, context: context)
        return Box(keyID: recipient.id, sender: pair.publicKey, sealed: secret.seal(plaintext, context: data))
    }

    /// Forgets a pair whose time is over without waiting for the next message, which may be long in coming.
    public func discardExpired() {
        let now = now()
        state.withLock { renew(&$0, at: now) }
    }

    /// The public half of the pair that would be used next if its time is not over.
    var sender: [UInt8] { state.withLock { $0.pair.publicKey } }

    private func current(for publicKey: [UInt8]) -> (KeyPair, SharedSecret?) {
        let now = now()
        return state.withLock { state in
            renew(&state, at: now)
            return (state.pair, state.secrets[publicKey])
        }
    }

    private func renew(_ state: inout State, at now: ContinuousClock.Instant) {
        if now < state.expires { return }
        state = State(pair: .random(), expires: now + lifetime, secrets: SharedSecretCache(capacity: capacity))
    }
}
