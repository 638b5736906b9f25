public import Crypto
public import EventLog
internal import EventSchema
public import Postgres
public import Runtime
public import Sealing

/// Keeps an instance's signing key the one that Postgres names, on a thread of its own: makes the first keys, follows what
/// operators and other instances change, and rotates a key that is old. What is retired it tells the log, and what the log says
/// is retired never signs again.
public final class SigningKeyKeeper: Component {
    /// The name of its part in readiness.
    public static let part = "signing keys"

    public let name = "signing keys"
    private let keys: SigningKeys
    private let table: SigningKeyTable
    private let retired: RetiredSigningKeys
    private let notices: RetirementNotices
    private let algorithm: SignatureAlgorithm
    private let age: Duration?
    private let database: PostgresConnection.Configuration
    private let context: ServiceContext
    private let interval: Duration
    private let pause = Mailbox<Never>()

    /// - Parameters:
    ///   - directory: follows the topic `keys`.
    ///   - secret: Identity's own.
    ///   - accepted: others that keys may be wrapped under.
    ///   - age: how long one key signs; `nil`: until somebody rotates it.
    ///   - interval: how often Postgres is looked at.
    public init(
        _ keys: SigningKeys, log: any EventLog, directory: KeyDirectory, authenticator: RecordAuthenticator, secret: Secret,
        accepted: [Secret] = [], algorithm: SignatureAlgorithm, age: Duration?,
        database: PostgresConnection.Configuration, context: ServiceContext, interval: Duration = .seconds(2)
    ) {
        self.keys = keys
        retired = RetiredSigningKeys(directory: directory)
        notices = RetirementNotices(log: log, authenticator: authenticator)
        table = SigningKeyTable(secret: secret, accepted: accepted)
        self.algorithm = algorithm
        self.age = age
        self.database = database
        self.context = context
        self.interval = interval
        context.readiness.expect(Self.part)
    }

    /// A part that starts once there is a key to sign with.
    public func before(_ component: some Component) -> some Component {
        component.starting { [keys] in
            while !keys.areLoaded {
                do { try await Task.sleep(for: .milliseconds(20)) } catch { return false }
            }
            return true
        }
    }

    /// Works until a shutdown is asked for.
    ///
    /// - Throws: what waiting does not help against: a key that was wrapped under another secret.
    public func run() async throws {
        let pause = pause
        try await WorkerThread(name: "signing", wake: { pause.wake() }) { [self] stop in try work(until: stop) }.run()
    }

    private func work(until stop: StopFlag) throws {
        let session = PostgresSession(database)
        var isAway = false
        defer { notices.close() }
        while !stop.isRaised {
            do throws(SigningKeyTable.Failure) {
                let untold = try look(session)
                if isAway { context.logger.notice("signing keys can be read again") }
                isAway = false
                context.readiness.set(Self.part, ready: keys.areLoaded, "the topic keys is being read")
                tell(untold)
            } catch {
                guard error.isRetriable else { throw error }
                if !isAway { context.logger.warning("signing keys cannot be read", ["reason": .public(error.description)]) }
                isAway = true
                // Those that are in memory are good for a long time yet.
                if !keys.areLoaded { context.readiness.set(Self.part, ready: false, "Postgres is away") }
            }
            _ = pause.receive(within: keys.areLoaded && !isAway ? interval : .milliseconds(200))
        }
    }

    /// Returns what the log is to be told.
    private func look(_ session: PostgresSession) throws(SigningKeyTable.Failure) -> [SigningKeyRetired] {
        let connection: PostgresConnection
        do throws(PostgresError) {
            connection = try session.connection()
        } catch {
            throw .database(error)
        }
        // Before the log has said which keys are retired, none is taken: a backup may have brought it back.
        guard let untold = try retired.settle(table, over: connection) else { return [] }
        let signing = try table.current(over: connection)
        if signing == nil || !keys.areLoaded { try table.prepare(algorithm, over: connection) }
        if let age, try table.rotate(algorithm, olderThan: age, over: connection) {
            context.logger.notice("a new key signs tokens, by its predecessor's age")
        }
        if let current = try table.current(over: connection) { keys.set(current) }
        return untold
    }

    private func tell(_ untold: [SigningKeyRetired]) {
        notices.tell(untold)
        guard let failure = notices.takeFailure() else { return }
        context.logger.warning("the log was not told of a retired signing key", ["reason": .public(failure.description)])
    }
}
