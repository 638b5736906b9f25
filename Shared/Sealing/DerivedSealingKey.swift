public import Crypto
public import EventSchema

/// The pair of a service that keeps nothing: it follows from the service's secret, is the same on all instances, and lasts
/// as long as the secret does. For what is worthless soon anyway, like submitted codes.
public struct DerivedSealingKey: Sendable {
    public let service: ServiceName
    public let pair: KeyPair
    /// The key's name in boxes and in the topic `keys`.
    public let id: String

    public init(service: ServiceName, secret: Secret) {
        self.service = service
        let info = Array("latchkey \(service.rawValue) sealing pair v1".utf8)
        pair = .derived(from: HKDFSHA256.derive(secret: secret, info: info, count: KeyPair.count))
        id = SealingKeyID.text(service, publicKey: pair.publicKey)
    }

    /// An opener for what is sealed to the pair.
    public func opener() -> BoxOpener {
        let opener = BoxOpener()
        opener.insert(pair, id: id)
        return opener
    }

    /// What must stand in the topic `keys`: usable at any time, so that no clock that was wrong at its publication matters. Of
    /// two such keys the one that was published last counts.
    var published: SealingKeyPublished {
        SealingKeyPublished(
            service: service, key: id, publicKey: pair.publicKey, notBefore: Timestamp(milliseconds: 0),
            notAfter: Timestamp(milliseconds: 253_402_300_799_999))
    }
}
