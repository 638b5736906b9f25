internal import EventSchema
internal import Postgres
internal import Projections

/// Which logins are blocked now: there is nothing to check for them. Identifiers without an account are blocked as those with
/// one, so that the same is left out for both.
struct LoginBlocks: Sendable {
    private struct Identifier: Hashable {
        var subject: Subject
        /// `nil`: from wherever the login comes.
        var address: AddressTag?
    }

    private var identifiers: Set<Identifier> = []
    private var devices: [Digest: UserID] = [:]

    /// Whether the decision will be that the login is blocked, whatever its password is.
    func hold(_ check: CheckLogin, from address: AddressTag, of user: UserID?) -> Bool {
        // A device of the account has a budget of its own.
        if let device = check.device { return user != nil && devices[device] == user }
        return identifiers.contains(Identifier(subject: check.subject, address: nil))
            || identifiers.contains(Identifier(subject: check.subject, address: address))
    }

    mutating func block(_ subject: Subject, from address: AddressTag? = nil) {
        identifiers.insert(Identifier(subject: subject, address: address))
    }

    mutating func block(_ device: Digest, of user: UserID) { devices[device] = user }

    // MARK: Reading

    static func identifiers(_ subjects: Set<Subject>, at now: Timestamp, schema: String) -> SQL {
        """
        SELECT subject, address FROM \(unsafe: schema).login_failures
        WHERE subject = ANY (\(subjects.map(\.bytes))) AND failed_at <= \(PostgresTimestamp(now))
            AND blocked_until > \(PostgresTimestamp(now))
        """
    }

    static func devices(_ devices: Set<Digest>, at now: Timestamp, schema: String) -> SQL {
        """
        SELECT digest, user_id FROM \(unsafe: schema).devices
        WHERE digest = ANY (\(devices.map(\.bytes))) AND failed_at <= \(PostgresTimestamp(now))
            AND blocked_until > \(PostgresTimestamp(now))
        """
    }

    mutating func block(identifiers rows: PostgresRows) throws(PostgresError) {
        for (subject, address) in try rows.decode([UInt8].self, [UInt8].self) {
            if let subject = Subject(bytes: subject) { block(subject, from: AddressTag(bytes: address)) }
        }
    }

    mutating func block(devices rows: PostgresRows) throws(PostgresError) {
        for (device, user) in try rows.decode([UInt8].self, PostgresUUID.self) {
            if let device = Digest(bytes: device), let user = UserID(bytes: user.bytes) { block(device, of: user) }
        }
    }
}
