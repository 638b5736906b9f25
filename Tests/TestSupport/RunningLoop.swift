public import EventLog
public import EventSchema
import Runtime
import Synchronization

/// A driver on a thread of its own, and what it said: one instance of a service.
public final class RunningLoop<Store: ProjectionStore>: Sendable {
    public typealias Event = Store.Domain.Event

    public let driver: LoopDriver<Store>
    public let writer: String
    private let recorder = Recorder<Event>()
    private let thread: WorkerThread

    /// Starts it.
    public init(
        log: any EventLog, domain: Store.Domain, settings: LoopSettings, authenticator: RecordAuthenticator, store: Store,
        writer: String = MessageID.random().text, noticed: @escaping @Sendable (LoopNotice) -> Void = { _ in },
        happened: @escaping @Sendable (ConfirmedEvent<Event>, Bool) -> Void = { _, _ in }
    ) {
        let recorder = recorder
        let driver = LoopDriver(
            log: log, domain: domain, settings: settings, authenticator: authenticator, store: store, writer: writer,
            notice: { notice in
                recorder.note(notice)
                noticed(notice)
            },
            happened: { event, isOwner in
                recorder.note(event)
                happened(event, isOwner)
            })
        self.driver = driver
        self.writer = writer
        let work: @Sendable (StopFlag) throws -> Void = { _ in try driver.run() }
        thread = WorkerThread(name: "loop", wake: { driver.stop() }, work)
        thread.start()
    }

    /// What took effect here, in order.
    public var happened: [ConfirmedEvent<Event>] { recorder.happened }
    /// Why partitions stand still.
    public var gaveUp: [LogError] { recorder.gaveUp }

    /// Ends it as a shutdown does, and waits until its thread is gone. Returns whether it is.
    @discardableResult
    public func stop() -> Bool {
        thread.stop.raise()
        return thread.join(within: .seconds(10))
    }

    deinit { stop() }
}

/// Keeps what a driver says.
private final class Recorder<Event: Sendable>: Sendable {
    private struct Seen: Sendable {
        var happened: [ConfirmedEvent<Event>] = []
        var gaveUp: [LogError] = []
    }

    private let seen = Mutex(Seen())

    var happened: [ConfirmedEvent<Event>] { seen.withLock { $0.happened } }
    var gaveUp: [LogError] { seen.withLock { $0.gaveUp } }

    func note(_ event: ConfirmedEvent<Event>) { seen.withLock { $0.happened.append(event) } }

    func note(_ notice: LoopNotice) {
        if case .gaveUp(_, let error) = notice { seen.withLock { $0.gaveUp.append(error) } }
    }
}
