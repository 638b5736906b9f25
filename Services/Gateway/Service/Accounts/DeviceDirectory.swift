public import EventSchema
public import Postgres

/// Looks devices of accounts up by their tokens.
public protocol DeviceDirectory: Sendable {
    /// Whose device it is, by SHA-256 of its token; `nil` for none.
    func owner(of device: Digest) async throws -> UserID?
}

/// Identity's devices, as its view for gateways shows them.
public struct PostgresDevices: DeviceDirectory {
    private let batcher: Batcher<Digest, UserID?>

    public init(_ pool: PostgresPool) {
        batcher = Batcher(limit: 512) { digests in
            let rows = try await pool.query(
                """
                SELECT digest, user_id FROM identity.devices_for_gateway
                WHERE digest = ANY(\(Array(Set(digests.map(\.bytes)))))
                """)
            var owners: [[UInt8]: UserID] = [:]
            for (digest, user) in try rows.decode([UInt8].self, PostgresUUID.self) { owners[digest] = UserID(bytes: user.bytes) }
            return digests.map { owners[$0.bytes] }
        }
    }

    public func owner(of device: Digest) async throws -> UserID? { try await batcher.ask(device) }
}
