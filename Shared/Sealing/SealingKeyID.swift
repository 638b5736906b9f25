internal import Crypto
internal import EventSchema

/// Names of sealing keys: the service, the day where there is one, and a part of the public key's digest, so that a pair
/// drawn again for the same day, or derived from another secret, has another name.
enum SealingKeyID {
    static func text(_ service: ServiceName, day: Int32? = nil, publicKey: [UInt8]) -> String {
        let digest = Base64URL.encode(Array(SHA256.hash(publicKey).prefix(9)))
        return [service.rawValue, day.map { String($0) }, digest].compactMap(\.self).joined(separator: ":")
    }
}
