/// Shared secrets that were computed already, at most `capacity` of them. Those not used for a while go first: a full young
/// half becomes the old half, and what is used from the old half moves to the young one.
struct SharedSecretCache<Key: Hashable> {
    private let half: Int
    private var young: [Key: SharedSecret] = [:]
    private var old: [Key: SharedSecret] = [:]

    init(capacity: Int) {
        precondition(capacity >= 2)
        half = capacity / 2
    }

    var count: Int { young.count + old.count }

    subscript(key: Key) -> SharedSecret? {
        mutating get {
            if let secret = young[key] { return secret }
            guard let secret = old[key] else { return nil }
            insert(secret, for: key)
            return secret
        }
    }

    mutating func insert(_ secret: SharedSecret, for key: Key) {
        old[key] = nil
        if young[key] == nil, young.count >= half {
            old = young
            young.removeAll(keepingCapacity: true)
        }
        young[key] = secret
    }

    mutating func removeAll(where isGone: (Key) -> Bool) {
        young = young.filter { !isGone($0.key) }
        old = old.filter { !isGone($0.key) }
    }
}
