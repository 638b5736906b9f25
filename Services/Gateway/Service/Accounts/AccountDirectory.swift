public import EventSchema
public import Postgres

/// Looks accounts up by their identifiers.
public protocol AccountDirectory: Sendable {
    /// The account with this identifier; `nil` where there is none, or it is disabled.
    func account(of subject: Subject) async throws -> AccountReference?
}

/// Identity's accounts, as its view for gateways shows them.
public struct PostgresAccounts: AccountDirectory {
    private let batcher: Batcher<Subject, AccountReference?>

    public init(_ pool: PostgresPool) {
        batcher = Batcher(limit: 512) { subjects in
            // Each identifier for itself, as users are in `PostgresUserVersions`.
            let rows = try await pool.query(
                """
                SELECT account.* FROM unnest(\(Array(Set(subjects.map(\.bytes))))) AS wanted (subject) CROSS JOIN LATERAL (
                    SELECT subject, user_id, credential_version FROM identity.accounts_for_gateway
                    WHERE subject = wanted.subject AND NOT disabled OFFSET 0) AS account
                """)
            var accounts: [[UInt8]: AccountReference] = [:]
            for (subject, user, version) in try rows.decode([UInt8].self, PostgresUUID.self, Int64.self) {
                guard let user = UserID(bytes: user.bytes) else {
                    throw PostgresError(.mismatch, "a user id of Identity is none")
                }
                accounts[subject] = AccountReference(user: user, credentialVersion: version)
            }
            return subjects.map { accounts[$0.bytes] }
        }
    }

    public func account(of subject: Subject) async throws -> AccountReference? { try await batcher.ask(subject) }
}
