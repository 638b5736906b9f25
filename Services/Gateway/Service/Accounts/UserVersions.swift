public import EventSchema
public import Postgres

/// All that a user's answer about themselves depends on: another one after every change.
public struct UserVersion: Hashable, Sendable {
    public var groups: [String]
    /// The profile's version, and each identifier with the times of its coming and of its proof: nothing of it is ever the same
    /// again once it was different.
    public var rest: [UInt8]

    public init(groups: [String] = [], rest: [UInt8]) {
        self.groups = groups
        self.rest = rest
    }
}

/// Looks versions of users up.
public protocol UserVersions: Sendable {
    /// As of a moment after the call. `nil` for a user who is disabled, erased or unknown.
    func version(of user: UserID) async throws -> UserVersion?
}

/// Those of Identity's users, as its view for gateways shows them.
public struct PostgresUserVersions: UserVersions {
    private let batcher: Batcher<UserID, UserVersion?>

    public init(_ pool: PostgresPool) {
        batcher = Batcher(limit: 512, gathering: .milliseconds(2)) { users in
            // Each user for themselves (`OFFSET`), by index: as one join it is made of whole tables as long as they are small.
            let rows = try await pool.query(
                """
                SELECT user_id, groups, profile_version, subject, attached_at, verified_at
                FROM unnest(\(Set(users).map { PostgresUUID($0.bytes) })) AS wanted (id)
                CROSS JOIN LATERAL
                    (SELECT * FROM identity.user_versions_for_gateway WHERE user_id = wanted.id OFFSET 0) AS known
                ORDER BY user_id, subject
                """)
            var versions: [UserID: UserVersion] = [:]
            for row in rows {
                guard let user = UserID(bytes: try row.decode(0, as: PostgresUUID.self).bytes) else {
                    throw PostgresError(.mismatch, "a user id of Identity is none")
                }
                if versions[user] == nil { versions[user] = UserVersion(groups: try row.decode(1), rest: []) }
                for column in 2...5 {
                    row.withBytes(column) { bytes in versions[user]?.rest.append(field: bytes) }
                }
            }
            return users.map { versions[$0] }
        }
    }

    public func version(of user: UserID) async throws -> UserVersion? { try await batcher.ask(user) }
}

extension [UInt8] {
    /// With its length in front, so that no two rows look like one.
    fileprivate mutating func append(field bytes: UnsafeRawBufferPointer?) {
        guard let bytes else { return append(.max) }
        append(UInt8(bytes.count))
        append(contentsOf: bytes)
    }
}
