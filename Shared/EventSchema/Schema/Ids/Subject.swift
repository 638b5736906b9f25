import Crypto

/// The pseudonym of an identifier: the first 16 bytes of an HMAC under the routing secret, made by ``Routing``. It stands in
/// every record that is about the identifier (`ce_subject`).
public struct Subject: Hashable, Sendable, CustomStringConvertible {
    let value: UUIDBytes

    /// `nil` unless there are exactly 16 bytes.
    public init?(bytes: some Collection<UInt8>) {
        guard let value = UUIDBytes(bytes) else { return nil }
        self.value = value
    }

    /// Reads the form that `base64url` gives. `nil` for anything else.
    public init?(_ text: String) {
        guard let bytes = Base64URL.decode(text) else { return nil }
        self.init(bytes: bytes)
    }

    public var bytes: [UInt8] { value.bytes }
    /// 22 characters.
    public var base64url: String { Base64URL.encode(bytes) }
    public var description: String { base64url }

    /// The first 6 bytes: what decides the partition.
    public var routingKey: RoutingKey { RoutingKey(value: value.high >> 16) }
}

/// What decides the partition of everything about one identifier, and stands in the log as the key of its records. Six bytes
/// say nothing about the identifier without the routing secret.
public struct RoutingKey: Hashable, Sendable, CustomStringConvertible {
    /// 48 bits.
    let value: UInt64

    init(value: UInt64) { self.value = value & 0xffff_ffff_ffff }

    /// `nil` unless there are exactly 6 bytes.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 6 else { return nil }
        value = bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    public var bytes: [UInt8] { (0..<6).map { UInt8(truncatingIfNeeded: value >> (40 - 8 * $0)) } }

    public func partition(among count: Int) -> Int { Partitioner.partition(of: bytes, among: count) }

    public var description: String { Base64URL.encode(bytes) }
}
