public import EventSchema
internal import Synchronization

/// Runs the loops of a service's partitions on one thread: feeds them with what the log delivers and carries their actions
/// out. `run` blocks; everything else may be called from any thread.
public final class LoopDriver<Store: ProjectionStore>: Sendable {
    public typealias Domain = Store.Domain

    /// What other threads leave for the loop's thread.
    struct Mail: Sendable {
        var inputs: [(partition: Int, input: LoopInput<Domain>)] = []
        var isStopping = false
    }

    let log: any EventLog
    let domain: Domain
    let settings: LoopSettings
    let authenticator: RecordAuthenticator
    let store: Store
    let writer: String
    let client: String
    let notice: @Sendable (LoopNotice) -> Void
    let happened: @Sendable (ConfirmedEvent<Domain.Event>, _ isOwner: Bool) -> Void
    let mail = Mutex(Mail())
    let shown = Mutex(LoopStatus())
    let waker = Mutex<(any LogConsumer)?>(nil)

    /// `writer` names this process in its records, uniquely; `happened` is called on the loop's thread after an event took
    /// effect here.
    public init(
        log: any EventLog, domain: Domain, settings: LoopSettings, authenticator: RecordAuthenticator, store: Store,
        writer: String,
        notice: @escaping @Sendable (LoopNotice) -> Void,
        happened: @escaping @Sendable (ConfirmedEvent<Domain.Event>, _ isOwner: Bool) -> Void = { _, _ in }
    ) {
        self.log = log
        self.domain = domain
        self.settings = settings
        self.authenticator = authenticator
        self.store = store
        self.writer = writer
        client = settings.service.rawValue
        self.notice = notice
        self.happened = happened
    }

    public var status: LoopStatus { shown.withLock { $0 } }

    /// What the log's clock shows, never early; `nil` until this instance has owned a partition.
    public var now: Timestamp? {
        shown.withLock { $0.clock }.now(at: SteadyClock.now)
    }

    /// Hands in something that no record asks for. It is decided only while this instance owns the partition: whoever submits
    /// looks into the state for what is still due after every take-over.
    public func submit(_ input: Domain.Input, partition: Int) {
        post(.submit(input), to: partition, wake: true)
    }

    /// Ends `run` soon: the partitions are given up, what was appended is flushed.
    public func stop() {
        mail.withLock { $0.isStopping = true }
        waker.withLock { $0 }?.wake()
    }

    /// Decides until `stop`. Fails with what ends the service: a log that is not provisioned, or other than it must be.
    public func run() throws(LogError) {
        var session = LoopSession(driver: self)
        try session.run()
    }

    func post(_ input: LoopInput<Domain>, to partition: Int, wake: Bool) {
        mail.withLock { $0.inputs.append((partition, input)) }
        if wake { waker.withLock { $0 }?.wake() }
    }
}
