internal import Crypto
internal import Postgres
internal import Sealing

/// Wraps every key of Identity under `IDENTITY_SECRET` itself, so that what is accepted beside it can go. All the while the keys
/// are used. What was interrupted simply begins again: what is done is passed quickly.
public struct KeyRewrapping: Sendable {
    public struct Outcome: Equatable, Sendable {
        /// Keys that were wrapped under another secret.
        public var anew = 0
        /// Names of keys that open under no secret that is known here.
        public var locked: [String] = []
    }

    private let keys: DataKeyStore
    private let signing: SigningKeyTable
    private let sealing: SealingKeyStore
    private let audit: AuditKeyTable
    private let database: PostgresConnection.Configuration
    private let step: Int

    public init(_ configuration: IdentityConfiguration) {
        let (secret, accepted) = (configuration.secret, configuration.acceptedSecrets)
        self.init(
            keys: DataKeyStore(secret: secret, accepted: accepted), signing: SigningKeyTable(secret: secret, accepted: accepted),
            sealing: IdentityService.sealingKeys(configuration), audit: AuditKeyTable(secret: secret, accepted: accepted),
            database: IdentityService.database(configuration.common))
    }

    init(
        keys: DataKeyStore, signing: SigningKeyTable, sealing: SealingKeyStore, audit: AuditKeyTable,
        database: PostgresConnection.Configuration, step: Int = 1_000
    ) {
        self.keys = keys
        self.signing = signing
        self.sealing = sealing
        self.audit = audit
        self.database = database
        self.step = step
    }

    /// Blocks.
    ///
    /// - Parameter progress: is told how many of the data keys have been looked at.
    public func run(progress: (_ done: Int, _ all: Int) -> Void) throws -> Outcome {
        let connection = try PostgresConnection(database)
        defer { connection.close() }
        var outcome = Outcome()
        outcome.anew += try signing.rewrap(over: connection)
        outcome.anew += try sealing.rewrap(over: connection)
        outcome.anew += try audit.rewrap(over: connection)
        let all = try keys.count(over: connection)
        var done = 0
        var last: DataKeyStore.RewrappedBatch?
        repeat {
            let batch = try keys.rewrap(after: last?.next, limit: step, over: connection)
            outcome.anew += batch.anew
            outcome.locked += batch.locked.map { "\($0)" }
            done += batch.seen
            progress(done, max(all, done))
            last = batch
        } while last?.next != nil
        return outcome
    }
}
