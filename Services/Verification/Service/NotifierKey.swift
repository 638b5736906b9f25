internal import Crypto
internal import EventSchema
internal import Runtime
internal import Sealing
internal import Synchronization

/// The key that codes are sealed to: the Notifier's newest, and the one before it while none is newer.
final class NotifierKey: Sendable {
    private let directory: KeyDirectory
    private let known = Mutex<RecipientKey?>(nil)

    init(_ directory: KeyDirectory) { self.directory = directory }

    private var newest: RecipientKey? {
        directory.recipient(.notifier, at: Timestamp(milliseconds: WallClock.now()))
    }

    /// What is sealed to a key that is over counts as expired, so an old one is no worse than none.
    var current: RecipientKey {
        let newest = newest
        return known.withLock { known in
            if let newest { known = newest }
            guard let known else { preconditionFailure("commands are read only once the Notifier has a key") }
            return known
        }
    }

    /// A part that starts once there is a key.
    func before(_ component: some Component) -> some Component {
        component.starting { [self] in
            while newest == nil {
                guard (try? await Task.sleep(for: .milliseconds(20))) != nil else { return false }
            }
            return true
        }
    }
}
