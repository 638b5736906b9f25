import Crypto
import EventLog
import Postgres

/// Errors whose descriptions hold no personal data and no secret.
protocol HarmlessDescription: CustomStringConvertible {}

extension PostgresError: HarmlessDescription {}
extension LogError: HarmlessDescription {}
