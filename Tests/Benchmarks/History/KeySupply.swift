internal import EventSchema
internal import IdentityService
internal import Postgres

/// Data keys, committed before they are used, many at a time.
struct KeySupply {
    private static let batch = 2_000
    private let store: DataKeyStore
    private let connection: PostgresConnection
    private var keys: [DataKey] = []

    init(_ store: DataKeyStore, _ database: PostgresConnection.Configuration) throws {
        self.store = store
        connection = try PostgresConnection(database)
    }

    mutating func next() throws -> DataKey {
        if keys.isEmpty {
            let ids = (0..<Self.batch).map { _ in DataKeyID(of: .random()) }
            keys = Array(try store.make(ids, over: connection).values)
        }
        return keys.removeLast()
    }
}
