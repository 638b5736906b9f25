import Crypto
public import Postgres

/// Keeps requests in Postgres. A request is on disk before `claim` returns.
public struct PostgresAnswers: AnswerStore {
    private let pool: PostgresPool
    private let lifetime: Duration

    /// - Parameters:
    ///   - pool: its transactions commit synchronously.
    ///   - lifetime: how long a request is remembered.
    public init(_ pool: PostgresPool, lifetime: Duration = .seconds(3_600)) {
        self.pool = pool
        self.lifetime = lifetime
    }

    public func claim(_ names: [RequestName], lease: Duration) async throws -> Claim {
        guard let first = names.first else { preconditionFailure("a request without a name is asked for") }
        if names.count == 1 {
            return try await pool.withConnection { connection in try claim(first, lease, over: connection) }
        }
        return try await pool.withTransaction { connection in
            let scopes = names.map(\.scope)
            // Whoever holds one of these secrets as well, and another one, takes the same locks in the same order. Who looks later
            // sees what was made known before.
            try connection.query(
                """
                SELECT pg_advisory_xact_lock(hashtextextended(encode(scope, 'hex'), 0))
                FROM unnest(\(scopes.sorted { $0.lexicographicallyPrecedes($1) })) AS scope
                """)
            let known = try connection.query(
                "SELECT scope FROM gateway.idempotency WHERE scope = ANY(\(scopes)) AND expires_at > clock_timestamp()"
            ).column([UInt8].self)
            return try claim(names.first { known.contains($0.scope) } ?? first, lease, over: connection)
        }
    }

    private func claim(_ name: RequestName, _ lease: Duration, over connection: PostgresConnection) throws -> Claim {
        let (scope, body) = (name.scope, name.body)
        let holder = Random.bytes(8)
        let fresh = Random.bytes(16)
        while true {
            // A row that another transaction has just made, or made anew, is not seen by the second half: then all is asked again.
            let rows = try connection.query(
                """
                WITH mine AS (
                    INSERT INTO gateway.idempotency AS row (scope, body, nonce, holder, held_until, expires_at)
                    VALUES (\(scope), \(body), \(fresh), \(holder),
                        clock_timestamp() + \(interval(lease)), clock_timestamp() + \(interval(lifetime)))
                    ON CONFLICT (scope) DO UPDATE SET
                        body = excluded.body, holder = excluded.holder, held_until = excluded.held_until,
                        nonce = CASE WHEN row.expires_at <= clock_timestamp() THEN excluded.nonce ELSE row.nonce END,
                        answer = NULL,
                        expires_at = CASE WHEN row.expires_at <= clock_timestamp() THEN excluded.expires_at ELSE row.expires_at END
                    WHERE row.expires_at <= clock_timestamp()
                    OR row.answer IS NULL AND row.body = excluded.body
                        -- A lease from further ahead than any was given when the server's clock was wrong. Not the one that was
                        -- to be given here: it may have been made before that of a twin who was faster.
                        AND (row.held_until <= clock_timestamp()
                            OR row.held_until > clock_timestamp() + \(interval(lease)))
                    RETURNING nonce, body, expires_at
                )
                SELECT true, nonce, body, NULL::bytea, \(milliseconds("expires_at")) FROM mine
                UNION ALL
                SELECT false, nonce, body, answer, \(milliseconds("expires_at")) FROM gateway.idempotency
                WHERE scope = \(scope) AND expires_at > clock_timestamp() AND NOT EXISTS (SELECT FROM mine)
                """)
            guard let row = rows.first else { continue }
            let (isMine, nonce, kept, answer, remaining) = try row.decode(
                Bool.self, [UInt8].self, [UInt8].self, [UInt8]?.self, Int64.self)
            if isMine {
                return .mine(
                    Hold(
                        scope: scope, nonce: nonce, holder: holder, isFirst: nonce == fresh,
                        remaining: .milliseconds(max(0, remaining))))
            }
            guard constantTimeEquals(kept, body) else { return .otherBody }
            return answer.map { .answered($0, scope: scope) } ?? .held
        }
    }

    public func keep(_ answer: [UInt8], for hold: Hold) async throws -> [UInt8] {
        let rows = try await pool.query(
            """
            UPDATE gateway.idempotency SET answer = coalesce(answer, \(answer))
            WHERE scope = \(hold.scope) AND nonce = \(hold.nonce) RETURNING answer
            """)
        return try rows.column([UInt8].self).first ?? answer
    }

    public func release(_ hold: Hold, _ trace: Trace) async throws {
        let mine: SQL = "scope = \(hold.scope) AND nonce = \(hold.nonce) AND holder = \(hold.holder) AND answer IS NULL"
        switch trace {
        case .nothing: try await pool.query("DELETE FROM gateway.idempotency WHERE \(mine)")
        case .refusals:
            try await pool.query(
                "UPDATE gateway.idempotency SET held_until = clock_timestamp(), nonce = \(Random.bytes(16)) WHERE \(mine)")
        case .commands: try await pool.query("UPDATE gateway.idempotency SET held_until = clock_timestamp() WHERE \(mine)")
        }
    }

    /// Deletes some of the requests that are over. Waits for nobody; returns how many they were.
    static func sweep(step: Int) -> SQL {
        """
        DELETE FROM gateway.idempotency WHERE scope IN (
            SELECT scope FROM gateway.idempotency WHERE expires_at <= clock_timestamp()
            ORDER BY expires_at LIMIT \(step) FOR UPDATE SKIP LOCKED
        )
        """
    }

    private func interval(_ duration: Duration) -> SQL {
        let (seconds, attoseconds) = duration.components
        return "make_interval(secs => \(Double(seconds) + Double(attoseconds) / 1e18))"
    }

    private func milliseconds(_ column: StaticString) -> SQL {
        "floor(extract(epoch FROM \(unsafe: "\(column)") - clock_timestamp()) * 1000)::bigint"
    }
}
