internal import Crypto
public import EventLog
internal import EventSchema
internal import Glibc
internal import Identifiers
internal import Postgres
public import Runtime

/// What auditors do with the log: they read histories, and prove that nothing was changed. Every call blocks.
public struct AuditOperations: Sendable {
    let access: OperatorAccess
    let auditKey: AuditKeyTable

    public init(_ configuration: IdentityConfiguration, log: any EventLog) throws {
        self.init(try OperatorAccess(configuration, log: log), auditKey: AuditKeyTable(secret: configuration.secret))
    }

    init(_ access: OperatorAccess, auditKey: AuditKeyTable) {
        self.access = access
        self.auditKey = auditKey
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
        do {
            defer { try? output.flush() }
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
    static var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000)
    }

    /// Beside the output.
    static func say(_ text: String) { StandardStream.write("identity audit: \(text)\n", to: STDERR_FILENO) }
}
