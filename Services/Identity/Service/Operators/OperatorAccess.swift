internal import EventLog
internal import EventSchema
internal import LoopService
internal import Postgres
internal import Runtime

/// What operators' subcommands work with.
struct OperatorAccess: Sendable {
    var log: any EventLog
    var authenticator: RecordAuthenticator
    var routing: Routing
    var keys: DataKeyStore
    var database: PostgresConnection.Configuration

    /// A line to the running services. The caller closes it.
    func line(patience: Interval) throws -> OperatorLine {
        try OperatorLine(log: log, authenticator: authenticator, patience: patience)
    }
}

extension OperatorAccess {
    init(_ configuration: IdentityConfiguration, log: any EventLog) throws {
        self.init(
            log: log, authenticator: try RecordAuthenticator(configuration.common.macKeys),
            routing: Routing(secret: configuration.routingSecret),
            keys: DataKeyStore(secret: configuration.secret, accepted: configuration.acceptedSecrets),
            database: IdentityService.database(configuration.common))
    }
}
