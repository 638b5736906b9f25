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

    /// Who asks for a second budget if the first one admits.
    struct Follower: Hashable, Sendable {
        var key: [UInt8]
        var most: Int
        /// The window in milliseconds.
        var span: Int64
        /// Which of the entries is the first one.
        var first: Int
        /// The place among those who count in the first one, from 1; 0 for who only looks at it.
        var place: Int
    }

    /// A time this far ahead was written while the server's clock was wrong, and does not count.
    static let clockTolerance: Int64 = 120_000

    /// Gives for each key how many of those who asked were admitted, the first ones, and the milliseconds until one more would fit:
    /// not more than 0 where it would now.
    ///
    /// - Parameters:
    ///   - followers: their keys are other ones than those of the entries. They are taken after all entries, so that statements
    ///     of several gateways still wait for each other in one order.
    ///   - now: milliseconds since 1970; `nil` for the server's clock, which is one for all gateways.
    static func take(_ entries: [Entry], then followers: [Follower] = [], at now: Int64?) -> SQL {
        let first = take(
            """
            unnest(
                \(entries.map(\.key)), \(entries.map { Int32($0.asked) }), \(entries.map { Int32($0.most) }),
                \(entries.map(\.span))
            ) AS entry(key, asked, most, span)
            """, at: now)
        if followers.isEmpty { return first }
        // Outcomes are found by their number in the order of keys: a join would compare every follower with each of them.
        var numbers = [Int32](repeating: 0, count: entries.count)
        let order = entries.indices.sorted { entries[$0].key.lexicographicallyPrecedes(entries[$1].key) }
        for (number, entry) in order.enumerated() { numbers[entry] = Int32(number + 1) }
        return """
            WITH first AS (\(first)),
            counted AS (
                SELECT array_agg(admitted ORDER BY key) AS admitted, array_agg(wait ORDER BY key) AS wait FROM first
            ),
            following AS (
                SELECT follower.key, count(*)::integer AS asked, most, span
                FROM unnest(
                    \(followers.map(\.key)), \(followers.map { Int32($0.most) }), \(followers.map(\.span)),
                    \(followers.map { numbers[$0.first] }), \(followers.map { Int32($0.place) })
                ) AS follower(key, most, span, number, place), counted
                WHERE CASE WHEN place = 0 THEN counted.admitted[number] > 0 OR counted.wait[number] <= 0
                    ELSE place <= counted.admitted[number] END
                GROUP BY follower.key, most, span
            ),
            second AS (\(take("following", at: now)))
            SELECT key, admitted, wait FROM first UNION ALL SELECT key, admitted, wait FROM second
            """
    }

    /// - Parameter entries: rows of key, asked, most, span.
    private static func take(_ entries: SQL, at now: Int64?) -> SQL {
        """
        INSERT INTO gateway.limits AS kept (key, hits, admitted, asked, most, span, at)
        SELECT key, array_fill(at, ARRAY[least(asked, most)]), least(asked, most), asked, most, span, at
        FROM \(entries),
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
            (SELECT hit FROM unnest(hits) AS hit ORDER BY hit DESC OFFSET most - 1 LIMIT 1) + span - at, 0) AS wait
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
