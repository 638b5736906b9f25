import Crypto
import EventSchema
import Postgres
import TestSupport
import Testing

@testable import IdentityService

extension ServiceTests {
    /// The keys that personal data is encrypted under, over a real Postgres.
    @Suite struct DataKeyTests {
        private let connection: PostgresConnection
        private let database: TestDatabase
        private let store = DataKeyStore(secret: Secret([UInt8](repeating: 1, count: 32)))
        private let id = DataKeyID(of: .random())

        init() throws {
            database = try TestDatabase.create()
            connection = try database.connect()
            try IdentityKeys.migrations().apply(over: connection)
        }

        private func stored(_ store: DataKeyStore) throws -> DataKey? {
            let rows = try connection.query("SELECT wrapped FROM identity_keys.data_keys").column([UInt8]?.self)
            return rows.first.flatMap(\.self).flatMap { store.unwrap($0, as: id) }
        }

        @Test func `what is encrypted under a key opens with its row`() throws {
            let key = try #require(try store.make([id], over: connection)[id])
            let sealed = key.seal(Array("Ada".utf8), as: .profile)
            let read = try #require(try stored(store))
            #expect(read.open(sealed, as: .profile) == Array("Ada".utf8))
            #expect(read.open(sealed, as: .identifier) == nil)
        }

        @Test func `a key is made once, however often it is asked for`() throws {
            let first = try #require(try store.make([id, id], over: connection)[id])
            let other = try database.connect()
            let second = try #require(try store.make([id], over: other)[id])
            #expect(second.open(first.seal([1], as: .client), as: .client) == [1])
            #expect(try connection.query("SELECT FROM identity_keys.data_keys").count == 1)
        }

        @Test func `several at once, and none`() throws {
            let ids = (0..<5).map { _ in DataKeyID(of: .random()) }
            #expect(Set(try store.make(ids, over: connection).keys) == Set(ids))
            #expect(try store.make([], over: connection).isEmpty)
        }

        @Test func `a key does not open under another's name, nor with another secret`() throws {
            let key = try #require(try store.make([id], over: connection)[id])
            let sealed = key.seal([1], as: .client)
            let wrapped = try connection.query("SELECT wrapped FROM identity_keys.data_keys").column([UInt8].self)[0]
            #expect(store.unwrap(wrapped, as: DataKeyID(of: .random())) == nil)
            #expect(DataKeyStore(secret: Secret([UInt8](repeating: 2, count: 32))).unwrap(wrapped, as: id) == nil)
            let stranger = try #require(try store.make([DataKeyID(of: .random())], over: connection).values.first)
            #expect(stranger.open(sealed, as: .client) == nil)
        }

        @Test(arguments: DataKeyStore.Reason.allCases) func `a destroyed key never comes back`(reason: DataKeyStore.Reason) throws
        {
            _ = try store.make([id], over: connection)
            #expect(try connection.execute(store.destroying([id], for: reason)) == 1)
            #expect(try connection.execute(store.destroying([id], for: .erased)) == 0)
            #expect(try stored(store) == nil)
            #expect(try store.make([id], over: connection).isEmpty)
            let rows = try connection.query("SELECT reason, destroyed_at IS NOT NULL FROM identity_keys.data_keys").decode(
                String.self, Bool.self)
            #expect(rows.count == 1 && rows[0] == (reason.rawValue, true))
        }
    }
}
