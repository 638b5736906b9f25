import Synchronization

/// Opens boxes with the pairs that it was given. Shared by any number of threads.
public final class BoxOpener: Sendable {
    private struct Link: Hashable {
        var keyID: String
        var sender: [UInt8]
    }

    private struct State {
        var pairs: [String: KeyPair] = [:]
        var secrets: SharedSecretCache<Link>
    }

    private let state: Mutex<State>

    /// - Parameter capacity: how many senders' shared secrets are kept.
    public init(capacity: Int = 4_096) {
        state = Mutex(State(secrets: SharedSecretCache(capacity: capacity)))
    }

    /// From now on boxes to `id` are opened with this pair.
    public func insert(_ pair: KeyPair, id: String) {
        state.withLock { state in
            if let before = state.pairs.updateValue(pair, forKey: id), before.publicKey != pair.publicKey {
                state.secrets.removeAll { $0.keyID == id }
            }
        }
    }

    /// Forgets the pair and every secret computed with it: boxes to it cannot be opened any more.
    public func remove(id: String) {
        state.withLock { state in
            if state.pairs.removeValue(forKey: id) != nil { state.secrets.removeAll { $0.keyID == id } }
        }
    }

    /// The ids of the pairs held now.
    public var keyIDs: Set<String> { state.withLock { Set($0.pairs.keys) } }

    /// Whether boxes to `id` can be opened now.
    public func holds(_ id: String) -> Bool { state.withLock { $0.pairs[id] != nil } }

    /// The message, or `nil` if its pair is not held (any more), it was sealed for another context, or it was changed.
    public func open(_ box: Box, context: [UInt8]) -> [UInt8]? {
        let (keyID, (sender, sealed)) = (box.keyID, box.message)
        let link = Link(keyID: keyID, sender: sender)
        let (pair, known) = state.withLock { state in (state.pairs[keyID], state.secrets[link]) }
        guard let pair else { return nil }
        let data = Box.associatedData(keyID: keyID, sender: sender, context: context)
        if let known { return known.open(sealed, context: data) }
        // Outside the lock: it takes long.
        guard let secret = try? SharedSecret(own: pair, peer: sender), let plaintext = secret.open(sealed, context: data)
        else { return nil }
        // Only what opened is kept, and only while the pair is: junk must not push out what is used.
        state.withLock { state in
            if state.pairs[keyID]?.publicKey == pair.publicKey { state.secrets.insert(secret, for: link) }
        }
        return plaintext
    }
}
