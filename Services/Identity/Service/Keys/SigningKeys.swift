public import Crypto
public import JSON
internal import Synchronization

/// The key that signs tokens, as this instance knows it. Shared by any number of threads; a keeper sets it.
public final class SigningKeys: Sendable {
    private let current = Mutex<SigningKeyTable.Current?>(nil)

    public init() {}

    /// With a key of its own, for tests of what mints tokens.
    public convenience init(kid: String, key: SigningKey) {
        self.init()
        set(SigningKeyTable.Current(kid: kid, key: key))
    }

    func set(_ key: SigningKeyTable.Current) { current.withLock { $0 = key } }

    /// Whether there is a key to sign with.
    public var areLoaded: Bool { current.withLock { $0 != nil } }

    /// A token that says these claims, under the key that signs now.
    ///
    /// - Parameter type: the `typ` of its header.
    /// - Precondition: a key is loaded; parts that need one start after the keeper has it (`SigningKeyKeeper.before`).
    public func sign(_ claims: JSONObject, type: String) -> String {
        guard let current = current.withLock({ $0 }) else { preconditionFailure("a token is asked for before there is a key") }
        return JSONWebToken.signed(claims, type: type, keyID: current.kid, by: current.key)
    }
}
