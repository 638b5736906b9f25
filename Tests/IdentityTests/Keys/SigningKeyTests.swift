import Crypto
import EventLog
import EventLogSimulated
import EventSchema
import JSON
import Postgres
import Runtime
import Sealing
import Synchronization
import TestSupport
import Testing

@testable import IdentityService

extension ServiceTests {
    /// The keys that sign tokens, over a real Postgres.
    @Suite struct SigningKeyTests {
        private let database: TestDatabase
        private let connection: PostgresConnection
        private let table = SigningKeyTable(secret: secret)
        private let log = SimulatedLog(partitions: 1)
        private let authenticator: RecordAuthenticator
        private static let secret = Secret([UInt8](repeating: 1, count: 32))

        init() throws {
            database = try TestDatabase.create()
            connection = try database.connect()
            authenticator = try RecordAuthenticator(keys: [1: Secret([UInt8](repeating: 3, count: 32))])
            try IdentityKeys.migrations().apply(over: connection)
        }

        private func states() throws -> [String: String] {
            Dictionary(uniqueKeysWithValues: try table.rows(over: connection).map { ($0.kid, $0.state) })
        }

        private func kid(_ state: String) throws -> String? { try states().first { $0.value == state }?.key }

        private func publicKeys() throws -> [String: VerificationKey] {
            let rows = try connection.query("SELECT kid, public_jwk FROM identity_keys.signing_keys_for_gateway")
            var keys: [String: VerificationKey] = [:]
            for (kid, jwk) in try rows.decode(String.self, PostgresJSON.self) {
                let members = try #require(JSON.parse(jwk.text).object)
                keys[kid] = try VerificationKey(jwk: members)
            }
            return keys
        }

        @Test(arguments: SignatureAlgorithm.allCases) func `the first start makes two keys, and others find them`(
            algorithm: SignatureAlgorithm
        ) throws {
            #expect(try table.current(over: connection) == nil)
            try table.prepare(algorithm, over: connection)
            let current = try #require(try table.current(over: connection))
            #expect(current.key.algorithm == algorithm)
            #expect(try states().values.sorted() == ["current", "next"])
            try table.prepare(algorithm, over: connection)
            #expect(try table.current(over: connection)?.kid == current.kid)
            #expect(try states().count == 2)
        }

        @Test func `what a key signs is checked with what gateways see of it`() throws {
            try table.prepare(.es256, over: connection)
            let current = try #require(try table.current(over: connection))
            let text = SigningKeys(kid: current.kid, key: current.key).sign(["sub": "a"], type: "at+jwt")
            let token = try JSONWebToken(text)
            let kid = try #require(token.keyID)
            let key = try #require(try publicKeys()[kid])
            #expect(try token.claims(verifiedBy: key, type: "at+jwt").subject == "a")
        }

        @Test func `a rotation lets the next key sign, which everybody knows already, and retires the other`() throws {
            try table.prepare(.es256, over: connection)
            let (first, second) = (try kid("current"), try kid("next"))
            #expect(try table.rotate(.es256, over: connection) == second)
            #expect(try table.current(over: connection)?.kid == second)
            let retired = try #require(first)
            #expect(try states()[retired] == "retired")
            #expect(try publicKeys().count == 3)
            // It signs nothing any more.
            let wrapped = try connection.query(
                "SELECT count(*) FROM identity_keys.signing_keys WHERE state = 'retired' AND wrapped_private IS NOT NULL"
            ).column(Int64.self)
            #expect(wrapped == [0])
        }

        @Test func `a retired key is forgotten by gateways after two days`() throws {
            try table.prepare(.es256, over: connection)
            _ = try table.rotate(.es256, over: connection)
            try connection.execute("UPDATE identity_keys.signing_keys SET retired_at = retired_at - interval '47 hours'")
            #expect(try publicKeys().count == 3)
            try connection.execute("UPDATE identity_keys.signing_keys SET retired_at = retired_at - interval '2 hours'")
            #expect(try publicKeys().count == 2)
        }

        @Test(arguments: ["current", "next", "retired"]) func `a revoked key counts no more at once, and another signs`(
            state: String
        ) throws {
            try table.prepare(.es256, over: connection)
            _ = try table.rotate(.es256, over: connection)
            let before = try #require(try kid(state))
            try table.revoke(kid: before, .es256, over: connection)
            #expect(try publicKeys()[before] == nil)
            #expect(try table.current(over: connection) != nil)
            #expect(try table.current(over: connection)?.kid != before)
            #expect(try kid("next") != nil)
            #expect(throws: SigningKeyTable.Failure.noSuchKey(kid: before)) {
                try table.revoke(kid: before, .es256, over: connection)
            }
        }

        @Test func `a key nobody knows cannot be revoked, and changes nothing`() throws {
            try table.prepare(.es256, over: connection)
            let before = try states()
            #expect(throws: SigningKeyTable.Failure.noSuchKey(kid: "x")) {
                try table.revoke(kid: "x", .es256, over: connection)
            }
            #expect(try states() == before)
        }

        @Test func `another algorithm takes over at the next start, and tokens of the old one still count`() throws {
            try table.prepare(.es256, over: connection)
            let old = try #require(try kid("current"))
            try table.prepare(.rs256, over: connection)
            #expect(try table.current(over: connection)?.key.algorithm == .rs256)
            #expect(try publicKeys()[old]?.algorithm == .es256)
            let next = try #require(try kid("next"))
            #expect(try publicKeys()[next]?.algorithm == .rs256)
        }

        @Test func `a key rotates by age once it is old`() throws {
            try table.prepare(.es256, over: connection)
            let first = try kid("current")
            #expect(try !table.rotate(.es256, olderThan: .seconds(3_600), over: connection))
            try connection.execute(
                "UPDATE identity_keys.signing_keys SET current_since = now() - interval '61 minutes' WHERE state = 'current'")
            #expect(try table.rotate(.es256, olderThan: .seconds(3_600), over: connection))
            #expect(try !table.rotate(.es256, olderThan: .seconds(3_600), over: connection))
            #expect(try kid("current") != first)
        }

        @Test func `another secret opens nothing, and a key in another's row is noticed`() throws {
            try table.prepare(.es256, over: connection)
            let current = try #require(try kid("current"))
            let foreign = SigningKeyTable(secret: Secret([UInt8](repeating: 2, count: 32)))
            #expect(throws: SigningKeyTable.Failure.locked(kid: current)) { try foreign.current(over: connection) }
            try connection.execute(
                """
                UPDATE identity_keys.signing_keys SET wrapped_private =
                    (SELECT wrapped_private FROM identity_keys.signing_keys WHERE state = 'next') WHERE state = 'current'
                """)
            #expect(throws: SigningKeyTable.Failure.locked(kid: current)) { try table.current(over: connection) }
        }

        @Test func `instances that start at once agree on one key`() async throws {
            let database = database
            let kids = try await withThrowingTaskGroup(of: String?.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        let connection = try database.connect()
                        let table = SigningKeyTable(secret: Self.secret)
                        try table.prepare(.es256, over: connection)
                        return try table.current(over: connection)?.kid
                    }
                }
                return try await group.reduce(into: Set<String?>()) { $0.insert($1) }
            }
            #expect(kids.count == 1)
            #expect(try states().count == 2)
        }

        @Test func `a keeper loads the key, lets others start then, and follows a rotation`() async throws {
            let keys = SigningKeys()
            let keeper = try keeper(of: keys)
            let started = StopFlag()
            let waiting = keeper.before(ClosureComponent("waiting") { started.raise() })
            let running = Task { try await keeper.run() }
            let late = Task { try await waiting.run() }
            #expect(try await waitUntil { keys.areLoaded && started.isRaised })
            let second = try table.rotate(.es256, over: connection)
            #expect(try await waitUntil { try JSONWebToken(keys.sign([:], type: "at+jwt")).keyID == second })
            running.cancel()
            _ = await running.result
            _ = await late.result
        }

        private func directory() throws -> KeyDirectory {
            try KeyDirectory.read(from: log, by: authenticator, within: .seconds(60))
        }

        private func keeper(
            of keys: SigningKeys, in log: (any EventLog)? = nil, knowing directory: KeyDirectory? = nil,
            readiness: Readiness = Readiness()
        ) throws -> SigningKeyKeeper {
            SigningKeyKeeper(
                keys, log: log ?? self.log, directory: try directory ?? self.directory(), authenticator: authenticator,
                secret: Self.secret, algorithm: .es256, age: nil, database: IdentityScene.configuration(of: database),
                context: ServiceContext(logger: Logger(service: "test", level: .error), readiness: readiness),
                interval: .milliseconds(10))
        }

        private var operations: SigningKeyOperations {
            SigningKeyOperations(
                table, .es256, log: log, authenticator: authenticator, database: IdentityScene.configuration(of: database),
                patience: .milliseconds(500))
        }

        @Test func `a keeper tells the log what is retired, and what the log says is retired never signs again`() async throws {
            try table.prepare(.es256, over: connection)
            let (first, second) = (try #require(try kid("current")), try #require(try kid("next")))
            try connection.script("CREATE TABLE before AS SELECT * FROM identity_keys.signing_keys")
            _ = try table.rotate(.es256, over: connection)
            try table.revoke(kid: second, .es256, over: connection)
            let keeper = try keeper(of: SigningKeys())
            let running = Task { try await keeper.run() }
            #expect(
                try await waitUntil {
                    try directory().retiredSigningKeys?.mapValues(\.isRevoked) == [first: false, second: true]
                })
            running.cancel()
            _ = await running.result

            // As a backup of all of Postgres brings them back.
            try connection.script(
                "TRUNCATE identity_keys.signing_keys; INSERT INTO identity_keys.signing_keys SELECT * FROM before")
            let keys = SigningKeys()
            // Nothing is signed before the topic was read.
            let (none, readiness) = (SigningKeys(), Readiness())
            let ignorant = try self.keeper(
                of: none, knowing: KeyDirectory(authenticator: authenticator), readiness: readiness)
            let waiting = Task { try await ignorant.run() }
            #expect(try await waitUntil { readiness.obstacles.map(\.obstacle) == ["the topic keys is being read"] })
            let again = try self.keeper(of: keys)
            let late = Task { try await again.run() }
            #expect(try await waitUntil { keys.areLoaded })
            #expect(!none.areLoaded)
            for task in [waiting, late] {
                task.cancel()
                _ = await task.result
            }
            let signs = try #require(try JSONWebToken(keys.sign([:], type: "at+jwt")).keyID)
            #expect(![first, second].contains(signs))
            #expect(try states()[first] == "retired" && states()[second] == "revoked")
            #expect(try publicKeys()[second] == nil)
        }

        @Test func `while the log takes nothing a keeper does its work, and tells it later`() async throws {
            try table.prepare(.es256, over: connection)
            let first = try #require(try kid("current"))
            let patient = CountedLog(SimulatedLog(partitions: 1, messageTimeout: .seconds(3_600)))
            let directory = try KeyDirectory.read(from: patient.log, by: authenticator, within: .seconds(60))
            _ = try table.rotate(.es256, over: connection)
            patient.log.isAvailable = false
            let (keys, readiness) = (SigningKeys(), Readiness())
            let keeper = try keeper(of: keys, in: patient, knowing: directory, readiness: readiness)
            let running = Task { try await keeper.run() }
            #expect(try await waitUntil { readiness.isReady })
            for _ in 0..<3 {
                let signs = try table.rotate(.es256, over: connection)
                #expect(try await waitUntil { try JSONWebToken(keys.sign([:], type: "at+jwt")).keyID == signs })
            }
            #expect(patient.producers == 1)
            patient.log.isAvailable = true
            let authenticator = authenticator
            #expect(
                try await waitUntil {
                    try KeyDirectory.read(from: patient.log, by: authenticator, within: .seconds(60))
                        .retiredSigningKeys?[first]?.isRevoked == false
                })
            running.cancel()
            _ = await running.result
        }

        @Test func `an operator who takes a key away tells the log, and repeats it where that was away`() throws {
            try table.prepare(.es256, over: connection)
            let (first, second) = (try #require(try kid("current")), try #require(try kid("next")))
            #expect(try operations.retire(first) == nil)
            #expect(try directory().retiredSigningKeys?.mapValues(\.isRevoked) == [first: true])
            #expect(try states()[first] == "revoked")

            log.isAvailable = false
            #expect(try operations.retire(second) != nil)
            #expect(try states()[second] == "revoked")
            log.isAvailable = true
            #expect(try directory().retiredSigningKeys?[second] == nil)
            #expect(try operations.retire(second) == nil)
            #expect(try directory().retiredSigningKeys?.mapValues(\.isRevoked) == [first: true, second: true])
            #expect(try operations.retire("x") != nil)
            #expect(try directory().retiredSigningKeys?.count == 2)
        }
    }
}

/// Counts the producers that are made.
private final class CountedLog: EventLog {
    let log: SimulatedLog
    private let count = Atomic(0)

    init(_ log: SimulatedLog) { self.log = log }

    var producers: Int { count.load(ordering: .acquiring) }

    func describe() throws(LogError) -> LogDescription { try log.describe() }

    func makeProducer(client: String) throws(LogError) -> any LogProducer {
        count.add(1, ordering: .releasing)
        return try log.makeProducer(client: client)
    }

    func makeConsumer(client: String, group: ConsumerGroup?) throws(LogError) -> any LogConsumer {
        try log.makeConsumer(client: client, group: group)
    }
}
