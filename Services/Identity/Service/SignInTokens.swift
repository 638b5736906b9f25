internal import Crypto
internal import EventSchema
internal import JSON

/// The tokens that one sign-in or refresh hands out, as text: drawn before it is decided, told in its answer alone.
struct SignInTokens: Hashable, Sendable {
    var refresh: String
    /// `nil` where the client has one already.
    var device: String?

    private static let separator = UInt8(ascii: ".")

    /// Encrypted under a key that the presented token gives: who presents that token again is told the same, and nobody else can
    /// be.
    func successor(of token: [UInt8], digest: Digest, sealer: BoxSealer, to key: RecipientKey) -> Box? {
        var text = Array(refresh.utf8)
        if let device { text += [Self.separator] + device.utf8 }
        let context = SealingContext.successor(of: digest)
        return try? sealer.seal(Self.key(of: token).seal(text, context: context), to: key, context: context)
    }

    /// Opens what `successor(of:digest:sealer:to:)` made. `nil` with another token, and once the key of the box is destroyed.
    init?(successor: Box, of token: [UInt8], digest: Digest, opener: BoxOpener) {
        let context = SealingContext.successor(of: digest)
        guard let sealed = opener.open(successor, context: context), let text = Self.key(of: token).open(sealed, context: context)
        else { return nil }
        let parts = text.split(separator: Self.separator)
        guard (1...2).contains(parts.count) else { return nil }
        refresh = String(decoding: parts[0], as: UTF8.self)
        device = parts.count == 2 ? String(decoding: parts[1], as: UTF8.self) : nil
    }

    init(refresh: String, device: String? = nil) {
        self.refresh = refresh
        self.device = device
    }

    private static func key(of token: [UInt8]) -> SymmetricKey {
        SymmetricKey.derived(from: Secret(token), info: Array("latchkey successor".utf8))
    }
}
