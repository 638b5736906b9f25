import Crypto

/// The id of a user: a version 8 UUID (RFC 9562, section 5.8) of 74 random bits and the user's routing key, masked. Only who
/// holds the routing secret can tell where it belongs, or that an id and a token or an identifier belong together.
///
///     byte   0 … 5   6          7        8            9        10 … 15
///            random  8 ‖ random random   10 ‖ random  random   routing key ⊕ mask
public struct UserID: UUIDIdentifier {
    public let uuid: UUIDBytes

    /// How many random bytes one is made of (six bits of them give way to version and variant).
    public static let randomBytes = 10

    public init?(uuid: UUIDBytes) {
        guard uuid.version == 8, uuid.isVariantRFC9562 else { return nil }
        self.uuid = uuid
    }

    init(random: [UInt8], mask: (_ random: [UInt8]) -> UInt64) {
        precondition(random.count == Self.randomBytes, "a user id is made of 10 random bytes")
        guard let unmarked = UUIDBytes(random + [0, 0, 0, 0, 0, 0]) else { preconditionFailure("16 bytes are a UUID") }
        let draft = unmarked.marked(version: 8)
        uuid = UUIDBytes(high: draft.high, low: draft.low | mask(Array(draft.bytes.prefix(Self.randomBytes))))
    }

    /// The part that the mask is made of, version and variant included.
    var random: [UInt8] { Array(uuid.bytes.prefix(Self.randomBytes)) }

    /// The last 48 bits.
    var masked: UInt64 { uuid.low & 0xffff_ffff_ffff }
}
