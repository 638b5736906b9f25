import Crypto
import EventLog
import EventSchema
import IdentityDomain
import Postgres
import TestSupport

@testable import IdentityService

/// An Identity with a past, and what operators replay.
final class RebuildScene: Sendable {
    let scene: IdentityScene

    init() throws { scene = try IdentityScene() }

    /// A rebuild in a database that may be another one than the service's.
    func rebuild(in database: TestDatabase? = nil, rowLimit: Int = 100_000) -> IdentityRebuild {
        IdentityRebuild(
            OperatorAccess(
                log: scene.log, authenticator: scene.authenticator, routing: scene.routing,
                keys: DataKeyStore(secret: CheckScene.secret),
                database: IdentityScene.configuration(of: database ?? scene.database)), rowLimit: rowLimit)
    }

    /// Lets people live for a while.
    @discardableResult
    func live(_ instance: IdentityScene.Instance, seed: UInt64, rounds: Int = 25) async throws -> RandomLives {
        var lives = RandomLives(seed: seed, scene: scene)
        for _ in 0..<rounds {
            let sent = lives.round(scene.fold(instance))
            for command in sent { lives.learn(try await scene.answer(to: command)) }
            scene.clock.advance(by: lives.pause())
        }
        return lives
    }

    /// All rows that events make, as text.
    func rows(in database: TestDatabase? = nil, schema: String = "identity") throws -> [String: [String]] {
        let tables = ShadowSchema.tables
        let dump = try TableDump.rows(
            of: tables.map { "\(schema).\($0)" }, over: (database ?? scene.database).connect())
        return Dictionary(uniqueKeysWithValues: tables.map { ($0, dump["\(schema).\($0)"] ?? []) })
    }
}
