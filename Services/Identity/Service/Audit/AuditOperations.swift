internal import Crypto
public import EventLog
internal import EventSchema
internal import Glibc
internal import Identifiers
internal import LoopService
internal import Postgres
public import Runtime

/// What auditors do with the log: they read histories, and prove that nothing was changed. Every call blocks.
public struct AuditOperations: Sendable {
    let access: OperatorAccess
    let auditKey: AuditKeyTable
    /// What is not there, of `dispensable`.
    private let missing: Set<String>

    private static let (secret, routingSecret, macKeys) = ("IDENTITY_SECRET", "LATCHKEY_ROUTING_SECRET", "LATCHKEY_LOG_MAC_KEYS")

    /// Variables that some audits can do without.
    public static let dispensable: Set<String> = [secret, routingSecret, macKeys]

    public init(_ configuration: IdentityConfiguration, log: any EventLog) throws {
        var missing: Set<String> = []
        if configuration.secret.count == 0 { missing.insert(Self.secret) }
        if configuration.routingSecret.count == 0 { missing.insert(Self.routingSecret) }
        if configuration.common.macKeys.isEmpty { missing.insert(Self.macKeys) }
        // Where there are no keys nothing is looked at with these.
        let authenticator =
            missing.contains(Self.macKeys)
            ? try RecordAuthenticator(keys: [1: .random(count: 32)]) : try RecordAuthenticator(configuration.common.macKeys)
        self.init(
            OperatorAccess(
                log: log, authenticator: authenticator, routing: Routing(secret: configuration.routingSecret),
                keys: DataKeyStore(secret: configuration.secret, accepted: configuration.acceptedSecrets),
                database: IdentityService.database(configuration.common)),
            auditKey: AuditKeyTable(secret: configuration.secret, accepted: configuration.acceptedSecrets), missing: missing)
    }

    init(_ access: OperatorAccess, auditKey: AuditKeyTable, missing: Set<String> = []) {
        self.access = access
        self.auditKey = auditKey
        self.missing = missing
    }

    /// What an audit cannot do without.
    private func needs(of wanted: AuditArguments) -> Set<String> {
        switch wanted.task {
        case .user, .erased: [Self.routingSecret, Self.macKeys]
        case .log: [Self.macKeys]
        case .prove: Set((wanted.withoutKeys ? [] : [Self.macKeys]) + (wanted.output == nil ? [] : [Self.secret]))
        case .key: [Self.secret]
        }
    }

    /// Does what a command line says, and gives its exit status: 0, 1 where something was not found or is not as it must be, 2
    /// for a wrong command line.
    ///
    /// - Parameter stop: ends it early, in an orderly way.
    public func run(_ arguments: [String], _ stop: StopFlag) throws -> Int32 {
        let wanted: AuditArguments
        do throws(AuditArguments.Fault) {
            wanted = try AuditArguments(arguments, now: Self.now)
        } catch {
            Self.say(error.description)
            return ExitStatus.usage(AuditArguments.usage)
        }
        return try run(wanted, stop)
    }

    func run(_ wanted: AuditArguments, _ stop: StopFlag, output: TextOutput = TextOutput()) throws -> Int32 {
        let lacking = needs(of: wanted).intersection(missing).sorted()
        guard lacking.isEmpty else {
            for name in lacking { Self.say("\(name) is not set") }
            return ExitStatus.configuration
        }
        do {
            defer { try? output.flush() }
            // A proof looks at the records themselves, whatever is announced.
            if wanted.task != .prove, needs(of: wanted).contains(Self.macKeys) {
                try access.authenticator.readAnnouncements(of: access.log)
            }
            switch wanted.task {
            case .user(let name):
                guard let scope = HistoryScope(name, access.routing) else { return Self.noName() }
                return try history(scope, wanted, stop, output)
            case .log: return try history(.everything, wanted, stop, output)
            case .erased(let name):
                guard let user = UserID(name) else { return Self.noName() }
                return try erased(user, stop, output)
            case .prove: return try prove(wanted, stop, output)
            case .key:
                let connection = try PostgresConnection(access.database)
                defer { connection.close() }
                try output.write(Base64URL.encode(auditKey.key(over: connection).publicKey) + "\n")
                return 0
            }
        } catch is TextOutput.Closed {
            // Whoever read has seen enough.
            return 0
        } catch is CancellationError {
            return ExitStatus.failure
        } catch {
            // None of these says anything of a person.
            Self.say((error as? LogError)?.reason ?? "\(error)")
            return ExitStatus.failure
        }
    }

    private static func noName() -> Int32 {
        say("this is no user id, e-mail address or phone number")
        return ExitStatus.usage
    }

    /// The clock of this machine.
    static var now: Timestamp { Timestamp(milliseconds: WallClock.now()) }

    /// Beside the output.
    static func say(_ text: String) { StandardStream.write("identity audit: \(text)\n", to: STDERR_FILENO) }
}
