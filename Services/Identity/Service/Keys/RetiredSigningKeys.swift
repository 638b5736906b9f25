internal import EventSchema
internal import Postgres
internal import Projections
internal import Sealing

/// Has the table of signing keys go by what the topic `keys` says of which sign no more: with Kafka the log outlives the table,
/// and a backup of the table brings back keys as they were.
struct RetiredSigningKeys: Sendable {
    let directory: KeyDirectory

    /// Retires what the log says is retired, for good. Blocks.
    ///
    /// - Returns: what the table says and the log does not, yet; `nil` before the topic was read to its end: then nothing is known.
    func settle(_ table: SigningKeyTable, over connection: PostgresConnection) throws(SigningKeyTable.Failure)
        -> [SigningKeyRetired]?
    {
        guard let told = directory.retiredSigningKeys else { return nil }
        var untold: [SigningKeyRetired] = []
        var revived: [SigningKeyRetired] = []
        for row in try table.rows(over: connection) {
            let (known, own) = (told[row.kid], row.retirement)
            if let own, known == nil || own.isRevoked && known?.isRevoked == false { untold.append(own) }
            if let known, own == nil || known.isRevoked && own?.isRevoked == false { revived.append(known) }
        }
        if !revived.isEmpty { try table.retire(revived, over: connection) }
        return untold
    }
}

extension SigningKeyTable.Row {
    /// `nil` for a key that signs, or will.
    var retirement: SigningKeyRetired? {
        retiredAt.map { SigningKeyRetired(key: kid, retiredAt: Timestamp($0), isRevoked: state == "revoked") }
    }
}
