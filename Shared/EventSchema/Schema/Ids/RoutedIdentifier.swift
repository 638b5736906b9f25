import Crypto

/// An id that is a version 8 UUID (RFC 9562, section 5.8) of 74 random bits and the routing key of its account, masked. Only
/// who holds the routing secret can tell where it belongs, or that an id and a token or an identifier belong together.
///
///     byte   0 … 5   6          7        8            9        10 … 15
///            random  8 ‖ random random   10 ‖ random  random   routing key ⊕ mask
///
/// ``Routing`` makes them.
public protocol RoutedIdentifier: UUIDIdentifier {
    /// Tells the masks of one kind of id from those of others.
    static var maskLabel: String { get }
}

extension RoutedIdentifier {
    /// How many random bytes one is made of (six bits of them give way to version and variant).
    public static var randomBytes: Int { 10 }

    init(random: [UInt8], mask: (_ random: [UInt8]) -> UInt64) {
        precondition(random.count == Self.randomBytes, "an id is made of 10 random bytes")
        guard let unmarked = UUIDBytes(random + [0, 0, 0, 0, 0, 0]) else { preconditionFailure("16 bytes are a UUID") }
        let draft = unmarked.marked(version: 8)
        let masked = mask(Array(draft.bytes.prefix(Self.randomBytes)))
        guard let id = Self(uuid: UUIDBytes(high: draft.high, low: draft.low | masked)) else {
            preconditionFailure("a routed id is a version 8 UUID")
        }
        self = id
    }

    /// The part that the mask is made of, version and variant included.
    var random: [UInt8] { Array(uuid.bytes.prefix(Self.randomBytes)) }

    /// The last 48 bits.
    var masked: UInt64 { uuid.low & 0xffff_ffff_ffff }
}
