public import Crypto
public import Postgres
public import Runtime

/// Keeps an instance's signing key the one that Postgres names, on a thread of its own: makes the first keys, follows what
/// operators and other instances change, and rotates a key that is old.
public final class SigningKeyKeeper: Component {
    /// The name of its part in readiness.
    public static let part = "signing keys"

    public let name = "signing keys"
    private let keys: SigningKeys
    private let table: SigningKeyTable
    private let algorithm: SignatureAlgorithm
    private let age: Duration?
    private let database: PostgresConnection.Configuration
    private let context: ServiceContext
    private let interval: Duration
    private let pause = Mailbox<Never>()

    /// - Parameters:
    ///   - secret: Identity's own.
    ///   - accepted: others that keys may be wrapped under.
    ///   - age: how long one key signs; `nil`: until somebody rotates it.
    ///   - interval: how often Postgres is looked at.
    public init(
        _ keys: SigningKeys, secret: Secret, accepted: [Secret] = [], algorithm: SignatureAlgorithm, age: Duration?,
        database: PostgresConnection.Configuration, context: ServiceContext, interval: Duration = .seconds(2)
    ) {
        self.keys = keys
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
        var isPrepared = false
        var isAway = false
        while !stop.isRaised {
            do throws(SigningKeyTable.Failure) {
                try look(session, isPrepared)
                isPrepared = true
                if isAway { context.logger.notice("signing keys can be read again") }
                isAway = false
                context.readiness.set(Self.part, ready: true)
            } catch {
                guard error.isRetriable else { throw error }
                if !isAway { context.logger.warning("signing keys cannot be read", ["reason": .public(error.description)]) }
                isAway = true
                // Those that are in memory are good for a long time yet.
                if !keys.areLoaded { context.readiness.set(Self.part, ready: false, "Postgres is away") }
            }
            _ = pause.receive(within: isPrepared && !isAway ? interval : .milliseconds(200))
        }
    }

    private func look(_ session: PostgresSession, _ isPrepared: Bool) throws(SigningKeyTable.Failure) {
        let connection: PostgresConnection
        do throws(PostgresError) {
            connection = try session.connection()
        } catch {
            throw .database(error)
        }
        if !isPrepared { try table.prepare(algorithm, over: connection) }
        if let age, try table.rotate(algorithm, olderThan: age, over: connection) {
            context.logger.notice("a new key signs tokens, by its predecessor's age")
        }
        if let current = try table.current(over: connection) { keys.set(current) }
    }
}
