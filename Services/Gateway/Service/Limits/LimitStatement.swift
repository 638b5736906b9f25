import Postgres

/// The one statement that checks and counts a batch of budgets.
///
/// A row holds the times of the requests that were admitted within the last window, at most as many as the limit. All
/// that fall into one batch get its time. Keys are taken in their order, so that statements of several gateways wait for each other
/// and never for ever.
enum LimitStatement {
    /// One key of a batch.
    struct Entry: Hashable, Sendable {
        var key: [UInt8]
        /// How often it occurs in the batch.
        var asked: Int
        var most: Int
        /// The window in milliseconds.
        var span: Int64
    }

    struct Outcome: Hashable, Sendable {
        var key: [UInt8]
        /// How many of those asked for fit, the first ones.
        var admitted: Int
        /// Milliseconds until the next one would fit; meaningless when everything fit.
        var wait: Int64
    }

    /// A time this far ahead was written while the server's clock was wrong, and does not count.
    static let clockTolerance: Int64 = 120_000

    /// - Parameter now: milliseconds since 1970; `nil` for the server's clock, which is one for all gateways.
    static func take(_ entries: [Entry], at now: Int64?) -> SQL {
        """
        INSERT INTO gateway.limits AS kept (key, hits, admitted, asked, most, span, at)
        SELECT key, array_fill(at, ARRAY[least(asked, most)]), least(asked, most), asked, most, span, at
        FROM unnest(
            \(entries.map(\.key)), \(entries.map { Int32($0.asked) }), \(entries.map { Int32($0.most) }), \(entries.map(\.span))
        ) AS entry(key, asked, most, span),
        LATERAL (SELECT coalesce(\(now), floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint) AS at) AS clock
        ORDER BY key
        ON CONFLICT (key) DO UPDATE SET (hits, admitted, asked, most, span, at) = (
            SELECT live.hits || array_fill(excluded.at, ARRAY[fit.admitted]), fit.admitted,
                excluded.asked, excluded.most, excluded.span, excluded.at
            FROM (
                SELECT coalesce(array_agg(hit ORDER BY hit), '{}') AS hits FROM unnest(kept.hits) AS hit
                WHERE hit > excluded.at - excluded.span AND hit <= excluded.at + \(clockTolerance)
            ) AS live,
            LATERAL (SELECT greatest(0, least(excluded.asked, excluded.most - cardinality(live.hits))) AS admitted) AS fit
        )
        RETURNING key, admitted, coalesce(
            (SELECT hit FROM unnest(hits) AS hit ORDER BY hit DESC OFFSET most - 1 LIMIT 1) + span - at, 0)
        """
    }

    /// Looks at the next keys after one, deletes those that are spent, and gives the last key looked at (`nil` at the end).
    /// It waits for nobody.
    static func sweep(after key: [UInt8], step: Int, at now: Int64?) -> SQL {
        """
        WITH page AS (SELECT key FROM gateway.limits WHERE key > \(key) ORDER BY key LIMIT \(step)),
        spent AS (
            SELECT key FROM gateway.limits
            WHERE key IN (SELECT key FROM page)
            AND at + span < coalesce(\(now), floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint)
            FOR UPDATE SKIP LOCKED
        ),
        gone AS (DELETE FROM gateway.limits WHERE key IN (SELECT key FROM spent))
        SELECT (SELECT key FROM page ORDER BY key DESC LIMIT 1), (SELECT count(*) FROM spent)
        """
    }
}
