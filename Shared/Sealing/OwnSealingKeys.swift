internal import Crypto
public import EventSchema
public import Postgres

/// What others seal to a service with.
public enum OwnSealingKeys: Sendable {
    /// Nothing is sealed to it by way of the topic `keys`.
    case none
    case derived(DerivedSealingKey)
    /// A random pair for each day. `isRead` says whether every inbox of the service, in all partitions, has been read past
    /// everything that was appended before that time of the log's own clock.
    case daily(SealingKeyStore, database: PostgresConnection.Configuration, isRead: @Sendable (Timestamp) -> Bool)

    var service: ServiceName? {
        switch self {
        case .none: nil
        case .derived(let key): key.service
        case .daily(let store, _, _): store.service
        }
    }

    /// Whether the service itself can open what is sealed to this key.
    func holds(_ id: String) -> Bool {
        switch self {
        case .none: false
        case .derived(let key): key.id == id
        case .daily(let store, _, _): store.opener.holds(id)
        }
    }
}
