import CSodium

/// The one place where libsodium is started. It chooses its implementations for this processor then, and must do so
/// before any other call.
enum Sodium {
    static let isReady: Bool = sodium_init() >= 0

    /// Called first by everything that calls libsodium.
    static func start() {
        precondition(isReady, "libsodium cannot be started: no source of randomness")
    }
}
