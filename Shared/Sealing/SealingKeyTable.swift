internal import Crypto
internal import EventSchema
internal import Postgres

/// The rows of `sealing_keys`: one pair for each day.
struct SealingKeyTable: Sendable {
    struct Row: Hashable, Sendable {
        var day: Int32
        var id: String
        var publicKey: [UInt8]
        var wrapped: [UInt8]
        var notBefore: Timestamp
        var notAfter: Timestamp

        func published(by service: ServiceName) -> SealingKeyPublished {
            SealingKeyPublished(service: service, key: id, publicKey: publicKey, notBefore: notBefore, notAfter: notAfter)
        }
    }

    let service: ServiceName
    let schema: String
    private let wrapping: WrappingKeys

    init(service: ServiceName, schema: String, secret: Secret, accepted: [Secret]) {
        self.service = service
        self.schema = schema
        wrapping = WrappingKeys(
            secret: secret, accepted: accepted, info: Array("latchkey \(service.rawValue) sealing keys v1".utf8))
    }

    // MARK: Pairs

    /// A new pair for a day. Nobody knows of it until it is inserted.
    func draw(day: Int32, schedule: SealingSchedule) -> Row {
        let pair = KeyPair.random()
        let id = SealingKeyID.text(service, day: day, publicKey: pair.publicKey)
        let wrapped = wrapping.seal(pair.privateKey.withBytes { Array($0) }, context: Self.context(id))
        return Row(
            day: day, id: id, publicKey: pair.publicKey, wrapped: wrapped, notBefore: schedule.notBefore(day: day),
            notAfter: schedule.notAfter(day: day))
    }

    /// A new pair out of turn. It is no day's own: its number is below zero.
    func draw(at now: Timestamp, schedule: SealingSchedule) -> Row {
        var row = draw(day: schedule.days(at: now).lowerBound, schedule: schedule)
        row.day = -Int32(clamping: now.milliseconds / 1_000)
        row.notBefore = now + schedule.notice
        row.notAfter = row.notBefore + schedule.lifetime
        return row
    }

    func unwrap(_ row: Row) throws(SealingError) -> KeyPair {
        guard var bytes = wrapping.open(row.wrapped, context: Self.context(row.id)),
            let pair = try? KeyPair(privateKey: Secret(wiping: &bytes)), pair.publicKey == row.publicKey
        else { throw .locked(schema: schema, key: row.id) }
        return pair
    }

    private static func context(_ id: String) -> [UInt8] { Array("sealing key ".utf8) + Array(id.utf8) }

    // MARK: Rows

    /// Inserts rows for days that have none, and reads all: one transaction, durable when this returns.
    func insertOrRead(_ rows: [Row], over connection: PostgresConnection) throws(SealingError) -> [Row] {
        // What is published must outlive a crash of Postgres, whatever the session's setting.
        let durably: [SQL] = rows.isEmpty ? [] : ["SELECT set_config('synchronous_commit', 'on', true)"]
        let insertions = rows.map { insertion(of: $0) + " ON CONFLICT (day) DO NOTHING" }
        do throws(PostgresError) {
            guard let result = try connection.batch(durably + insertions + [selection]).last else { return [] }
            return try Self.decode(result)
        } catch {
            throw .database(error)
        }
    }

    /// Writes the table anew without these rows, all or nothing. Deleting them would leave them in its file until somebody
    /// vacuums and no snapshot holds them; the old file goes with the transaction.
    func destroy(_ ids: Set<String>, over connection: PostgresConnection) throws(SealingError) {
        do {
            try connection.transaction { connection in
                try connection.query("LOCK TABLE \(unsafe: schema).sealing_keys IN ACCESS EXCLUSIVE MODE")
                let kept = try Self.decode(try connection.query(selection)).filter { !ids.contains($0.id) }
                try connection.batch(["TRUNCATE \(unsafe: schema).sealing_keys"] + kept.map { insertion(of: $0) })
            }
        } catch let error as PostgresError {
            throw .database(error)
        } catch {
            preconditionFailure("nothing else is thrown here")
        }
    }

    /// Wraps every pair under the secret itself. The table is written anew, see `destroy`: nothing is left of the old rows.
    ///
    /// - Returns: how many pairs were wrapped anew.
    func rewrap(over connection: PostgresConnection) throws(SealingError) -> Int {
        do {
            return try connection.transaction { connection in
                try connection.query("LOCK TABLE \(unsafe: schema).sealing_keys IN ACCESS EXCLUSIVE MODE")
                var count = 0
                let rows = try Self.decode(try connection.query(selection)).map { row in
                    switch wrapping.rewrap(row.wrapped, context: Self.context(row.id)) {
                    case .current: return row
                    case .locked: throw SealingError.locked(schema: schema, key: row.id)
                    case .anew(let wrapped):
                        count += 1
                        var row = row
                        row.wrapped = wrapped
                        return row
                    }
                }
                if count > 0 {
                    try connection.batch(["TRUNCATE \(unsafe: schema).sealing_keys"] + rows.map { insertion(of: $0) })
                }
                return count
            }
        } catch let error as PostgresError {
            throw .database(error)
        } catch let error as SealingError {
            throw error
        } catch {
            preconditionFailure("nothing else is thrown here")
        }
    }

    private func insertion(of row: Row) -> SQL {
        """
        INSERT INTO \(unsafe: schema).sealing_keys (day, id, public_key, wrapped, not_before, not_after)
        VALUES (\(row.day), \(row.id), \(row.publicKey), \(row.wrapped), \(row.notBefore.postgres), \(row.notAfter.postgres))
        """
    }

    private var selection: SQL {
        "SELECT day, id, public_key, wrapped, not_before, not_after FROM \(unsafe: schema).sealing_keys ORDER BY day"
    }

    private static func decode(_ rows: PostgresRows) throws(PostgresError) -> [Row] {
        try rows.decode(Int32.self, String.self, [UInt8].self, [UInt8].self, PostgresTimestamp.self, PostgresTimestamp.self).map {
            day, id, publicKey, wrapped, notBefore, notAfter in
            Row(
                day: day, id: id, publicKey: publicKey, wrapped: wrapped, notBefore: Timestamp(notBefore),
                notAfter: Timestamp(notAfter))
        }
    }

    static func migrations(schema: String, owner: String?) throws(PostgresError) -> Migrations {
        let script = String(decoding: PackageResources._001_sealing_keys_sql, as: UTF8.self).split(separator: "{schema}")
        return try Migrations(
            schema: schema, owner: owner,
            files: [("0001_sealing_keys.sql", Array(script.joined(separator: schema).utf8))])
    }
}

extension Timestamp {
    fileprivate init(_ time: PostgresTimestamp) { self.init(milliseconds: time.milliseconds) }

    fileprivate var postgres: PostgresTimestamp { PostgresTimestamp(milliseconds: milliseconds) }
}
