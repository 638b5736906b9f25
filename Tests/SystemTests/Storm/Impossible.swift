/// States that Identity's tables can never be in.
enum Impossible {
    private static let rules = [
        "a session belongs to a user who is there": """
        SELECT session.id FROM identity.sessions AS session LEFT JOIN identity.users AS account ON account.id = session.user_id
        WHERE account.id IS NULL OR account.erased_at IS NOT NULL OR account.disabled
        """,
        "an identifier belongs to a user who is there": """
        SELECT identifier.user_id FROM identity.identifiers AS identifier
        LEFT JOIN identity.users AS account ON account.id = identifier.user_id
        WHERE account.id IS NULL OR account.erased_at IS NOT NULL
        """,
        "a user has one identifier": """
        SELECT account.id FROM identity.users AS account WHERE erased_at IS NULL
        AND (SELECT count(*) FROM identity.identifiers AS identifier WHERE identifier.user_id = account.id) <> 1
        """,
        "a session is live or has ended": "SELECT id FROM identity.sessions INTERSECT SELECT id FROM identity.ended_sessions",
        "a device belongs to a user who is there": """
        SELECT device.user_id FROM identity.devices AS device
            LEFT JOIN identity.users AS account ON account.id = device.user_id
        WHERE account.id IS NULL OR account.erased_at IS NOT NULL
        """,
        "a refresh token belongs to one session": """
        SELECT encode(refresh, 'hex') FROM identity.sessions GROUP BY refresh HAVING count(*) > 1
        """,
        "who completed has an account, or had one": """
        SELECT id FROM identity.onboarding_sessions AS onboarding WHERE status = 'completed'
        AND NOT EXISTS (SELECT FROM identity.users WHERE users.id = onboarding.user_id)
        """,
        "who is erased has no data key, and nobody else lacks one": """
        SELECT account.id FROM identity.users AS account JOIN identity_keys.data_keys AS key ON key.id = account.data_key
        WHERE (account.erased_at IS NULL) <> (key.wrapped IS NOT NULL)
        """,
        "every user's data key is known": """
        SELECT id FROM identity.users AS account
        WHERE NOT EXISTS (SELECT FROM identity_keys.data_keys AS key WHERE key.id = account.data_key)
        """,
        "an active onboarding session has its data key": """
        SELECT onboarding.id FROM identity.onboarding_sessions AS onboarding
        LEFT JOIN identity_keys.data_keys AS key ON key.id = onboarding.data_key
        WHERE status = 'active' AND key.wrapped IS NULL
        """,
    ]

    /// For each rule what contradicts it.
    static func states(in system: LatchkeySystem) async throws -> [(rule: String, found: [String])] {
        var result: [(String, [String])] = []
        for (rule, query) in rules { result.append((rule, try await system.sql(query))) }
        return result
    }
}
