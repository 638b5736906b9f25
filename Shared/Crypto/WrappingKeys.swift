/// Keys out of a service's secret, and out of those that are accepted beside it while it is replaced: what is wrapped is wrapped
/// under the secret, and what was wrapped under any of them opens.
public struct WrappingKeys: Sendable {
    private let current: SymmetricKey
    private let accepted: [SymmetricKey]

    /// - Parameter info: what the keys are for.
    public init(secret: Secret, accepted: [Secret] = [], info: [UInt8]) {
        current = .derived(from: secret, info: info)
        self.accepted = accepted.map { .derived(from: $0, info: info) }
    }

    /// Under the secret itself, see `SymmetricKey.seal`.
    public func seal(_ plaintext: [UInt8], context: [UInt8]) -> [UInt8] { current.seal(plaintext, context: context) }

    /// What was wrapped under any of them; `nil` for all else.
    public func open(_ wrapped: [UInt8], context: [UInt8]) -> [UInt8]? {
        if let plaintext = current.open(wrapped, context: context) { return plaintext }
        for key in accepted {
            if let plaintext = key.open(wrapped, context: context) { return plaintext }
        }
        return nil
    }

    /// What became of something that was wrapped before.
    public enum Rewrapped: Hashable, Sendable {
        /// It is wrapped under the secret already.
        case current
        case anew([UInt8])
        /// It was wrapped under none of them, for another context, or was changed.
        case locked
    }

    /// The same, wrapped under the secret itself.
    public func rewrap(_ wrapped: [UInt8], context: [UInt8]) -> Rewrapped {
        if var plaintext = current.open(wrapped, context: context) {
            _ = Secret(wiping: &plaintext)
            return .current
        }
        guard var plaintext = open(wrapped, context: context) else { return .locked }
        defer { _ = Secret(wiping: &plaintext) }
        return .anew(seal(plaintext, context: context))
    }
}
