public import Crypto
public import EventLog
public import EventSchema
public import Runtime
internal import Synchronization

/// The newest key that a service has published, and the one before it while none is newer: for parts that cannot wait for one
/// when they need it.
public final class NewestKey: Sendable {
    private let service: ServiceName
    private let directory: KeyDirectory
    private let time: LogTime
    private let known = Mutex<RecipientKey?>(nil)

    /// - Parameter time: the log's clock, which says which key is usable; before it is known there is none.
    public init(of service: ServiceName, in directory: KeyDirectory, time: LogTime) {
        self.service = service
        self.directory = directory
        self.time = time
    }

    private var newest: RecipientKey? { time.now.flatMap { directory.recipient(service, at: $0) } }

    /// What is sealed to a key that is over counts as expired, so an old one is no worse than none.
    ///
    /// - Precondition: there was one (``before(_:)``).
    public var current: RecipientKey {
        let newest = newest
        return known.withLock { known in
            if let newest { known = newest }
            guard let known else { preconditionFailure("a key is asked for before there is one") }
            return known
        }
    }

    /// A part that starts once there is a key.
    public func before(_ component: some Component) -> some Component {
        component.starting { [self] in
            while newest == nil {
                guard (try? await Task.sleep(for: .milliseconds(20))) != nil else { return false }
            }
            return true
        }
    }
}
