import EventLog
import EventLogSimulated
import EventSchema
import Runtime
import TestSupport
import Testing

@testable import LoopService

@Suite struct LoopRunnerTests {
    private static let settings = LoopSettings(
        service: .verification, storage: .memory(window: .hours(1)), inboxes: [.verificationCommands], events: .verificationEvents
    )

    @Test func `an instance is ready when it has caught up with what it owns`() {
        func obstacle(_ change: (inout LoopStatus) -> Void, waited: Duration = .zero) -> String? {
            var status = LoopStatus()
            status.isAvailable = true
            status.hasStarted = true
            status.owned = [1, 2]
            status.ready = [1, 2]
            change(&status)
            return LoopRunner<NoProjection<RelayDomain>>.obstacle(status, waited: waited)
        }
        #expect(obstacle { _ in } == nil)
        #expect(obstacle { $0.ready = [1] } == "partitions are being taken over")
        #expect(obstacle { $0.isAvailable = false } == "the log is away")
        #expect(obstacle { $0.hasStarted = false } == "events are being read")
        #expect(obstacle { $0.gaveUp = [1: LogError(.unreadable, "secret")] } == "partition 1 stands still: unreadable")
    }

    @Test func `an instance without partitions is ready after a while`() {
        var status = LoopStatus()
        status.isAvailable = true
        status.hasStarted = true
        #expect(LoopRunner<NoProjection<RelayDomain>>.obstacle(status, waited: .seconds(1)) == "no partition was assigned yet")
        #expect(LoopRunner<NoProjection<RelayDomain>>.obstacle(status, waited: .seconds(5)) == nil)
    }

    @Test func `it runs as a part of a service, and says how it is`() async throws {
        let log = SimulatedLog(partitions: 2)
        let recorder = LogRecorder()
        let context = ServiceContext(logger: Logger(service: "test", sink: recorder))
        let runner = LoopRunner(
            log: log, domain: RelayDomain(), settings: Self.settings, authenticator: try EventRelay.authenticator(),
            store: NoProjection(), context: context)
        #expect(!context.readiness.isReady)
        let (stop, stopping) = AsyncStream.makeStream(of: Void.self)
        let service = Task { await ServiceLifecycle([runner], logger: .silent).run(stop: stop) }
        #expect(try await waitUntil { context.readiness.isReady })
        #expect(runner.driver.status.owned == [0, 1])
        let text = context.metrics.render()
        #expect(text.contains("\nlatchkey_partitions_owned 2\n"))
        #expect(text.contains(#"latchkey_loop_void_total{partition="1"} 0"#))
        #expect(recorder.entries.contains { $0.message == "took partitions over" })

        log.isAvailable = false
        #expect(try await waitUntil { context.readiness.obstacles.map(\.obstacle) == ["the log is away"] })
        log.isAvailable = true
        #expect(try await waitUntil { context.readiness.isReady })
        stopping.yield()
        #expect(await service.value == 0)
    }

    @Test(arguments: LogError.Code.allCases.filter(\.passes))
    func `it takes its partitions over though the log was away while it started`(code: LogError.Code) async throws {
        let log = UnreliableLog(SimulatedLog(partitions: 2), failures: 2, of: code)
        let context = ServiceContext(logger: .silent)
        let runner = LoopRunner(
            log: log, domain: RelayDomain(), settings: Self.settings, authenticator: try EventRelay.authenticator(),
            store: NoProjection(), context: context)
        let (stop, stopping) = AsyncStream.makeStream(of: Void.self)
        let service = Task { await ServiceLifecycle([runner], logger: .silent).run(stop: stop) }
        #expect(try await waitUntil { runner.driver.status.ready == [0, 1] })
        stopping.yield()
        #expect(await service.value == 0)
    }

    @Test(arguments: FaultyStore.Fault.allCases)
    fileprivate func `what the store cannot do stops its partition and no other`(fault: FaultyStore.Fault) async throws {
        try await withRunner(store: FaultyStore(fault: fault), storage: .projection) { log, driver in
            append(to: 1, in: log)
            append(to: 0, in: log)
            let hasStopped = try await waitUntil { driver.status.gaveUp[1]?.code == .misconfigured }
            let goesOn = try await waitUntil { driver.status.partitions[0]?.settledSequence == 1 }
            #expect(hasStopped)
            #expect(goesOn)
            #expect(driver.status.gaveUp.count == 1)
        }
    }

    @Test func `an event that no log can take stops its partition and no other`() async throws {
        try await withRunner(store: NoProjection(), storage: .memory(window: .hours(1))) { log, driver in
            // It fits into a command; the event has more headers.
            append(to: 1, in: log, traceParent: String(repeating: "x", count: 65_300))
            append(to: 0, in: log)
            let hasStopped = try await waitUntil { driver.status.gaveUp[1]?.code == .rejected }
            let goesOn = try await waitUntil { driver.status.partitions[0]?.settledSequence == 1 }
            #expect(hasStopped)
            #expect(goesOn)
            #expect(driver.status.gaveUp.count == 1)
        }
    }

    @Test func `a partition that stands still is not owned any more once another instance has it`() async throws {
        try await withRunner(store: NoProjection(), storage: .memory(window: .hours(1))) { log, driver in
            append(to: 1, in: log, traceParent: String(repeating: "x", count: 65_300))
            let hasStopped = try await waitUntil { driver.status.gaveUp[1] != nil }
            #expect(hasStopped)
            #expect(driver.status.owned == [0, 1])
            let other = RunningLoop(
                log: log, domain: RelayDomain(), settings: Self.settings, authenticator: try EventRelay.authenticator(),
                store: NoProjection())
            let isReleased = try await waitUntil { driver.status.owned == [0] }
            #expect(isReleased)
            other.stop()
        }
    }

    @Test func `an instance has started when it has read what there was, from the beginning if need be`() async throws {
        let log = SimulatedLog(partitions: 2)
        try await withRunner(store: NoProjection(), storage: .memory(window: .hours(1)), on: log, contents: log) { log, driver in
            append(to: 1, in: log)
            let isDecided = try await waitUntil { driver.status.partitions[1]?.settledSequence == 1 }
            #expect(isDecided)
        }
        let slow = UnreliableLog(log)
        slow.holdsRecords = true
        try await withRunner(store: NoProjection(), storage: .memory(window: .hours(1)), on: slow, contents: log) { _, driver in
            let isOwner = try await waitUntil { driver.status.isAvailable && driver.status.owned.count == 2 }
            #expect(isOwner)
            #expect(!driver.status.hasStarted)
            slow.holdsRecords = false
            let hasStarted = try await waitUntil { driver.status.hasStarted }
            #expect(hasStarted)
        }
    }

    @Test func `what is held is taken later, each record as long after it came`() async throws {
        let log = SimulatedLog(partitions: 1)
        var settings = Self.settings
        settings.hold = .milliseconds(200)
        let loop = RunningLoop(
            log: log, domain: RelayDomain(), settings: settings, authenticator: try EventRelay.authenticator(),
            store: NoProjection())
        #expect(try await waitUntil { loop.driver.status.ready == [0] })
        var starts: [Timestamp] = []
        for _ in 0..<12 {
            starts.append(SimulatedLog.systemTime)
            append(to: 0, in: log)
            try await Task.sleep(for: .milliseconds(40))
        }
        #expect(try await waitUntil { loop.happened.count == starts.count })
        for (event, start) in zip(loop.happened, starts) {
            #expect(event.envelope.appended.milliseconds >= start.milliseconds + 200)
        }
        loop.stop()
    }

    @Test func `whoever measures how far it is behind ends with it`() throws {
        let meter = LagMeter(log: SimulatedLog(partitions: 1), settings: Self.settings, status: { LoopStatus() }).start()
        let clock = ContinuousClock()
        let time = clock.measure {
            meter.stop.raise()
            #expect(meter.join(within: .seconds(30)))
        }
        #expect(time < .seconds(4))
    }

    /// Cannot do one thing for partition 1.
    fileprivate struct FaultyStore: ProjectionStore {
        typealias Domain = RelayDomain

        enum Fault: CaseIterable {
            case reading, loading, projecting
        }

        let fault: Fault

        func checkpoints(of partitions: [Int]) throws(LogError) -> [Int: Checkpoint] {
            try fail(at: .reading, partitions)
            return [:]
        }

        func load(_ requests: [Int: LoadRequest<String>]) throws(LogError) -> [Int: LoadedBatch<String, Int>] {
            try fail(at: .loading, Array(requests.keys))
            return requests.mapValues { _ in LoadedBatch(aggregates: [:]) }
        }

        func project(_ batches: [Int: ProjectionBatch<EventBody>]) throws(LogError) -> [Int: ProjectionOutcome] {
            try fail(at: .projecting, Array(batches.keys))
            return batches.mapValues { _ in .projected }
        }

        private func fail(at step: Fault, _ partitions: [Int]) throws(LogError) {
            if step == fault, partitions.contains(1) { throw LogError(.misconfigured, "a row that cannot be") }
        }
    }

    private func withRunner<Store: ProjectionStore>(
        store: Store, storage: LoopSettings.Storage, _ body: (SimulatedLog, LoopDriver<Store>) async throws -> Void
    ) async throws where Store.Domain == RelayDomain {
        let log = SimulatedLog(partitions: 2)
        try await withRunner(store: store, storage: storage, on: log, contents: log, body)
    }

    private func withRunner<Store: ProjectionStore>(
        store: Store, storage: LoopSettings.Storage, on log: any EventLog, contents: SimulatedLog,
        _ body: (SimulatedLog, LoopDriver<Store>) async throws -> Void
    ) async throws where Store.Domain == RelayDomain {
        var settings = Self.settings
        settings.storage = storage
        let runner = LoopRunner(
            log: log, domain: RelayDomain(), settings: settings, authenticator: try EventRelay.authenticator(), store: store,
            context: ServiceContext(logger: .silent))
        let (stop, stopping) = AsyncStream.makeStream(of: Void.self)
        let service = Task { await ServiceLifecycle([runner], logger: .silent).run(stop: stop) }
        var failure: (any Error)?
        do { try await body(contents, runner.driver) } catch { failure = error }
        stopping.yield()
        #expect(await service.value == 0)
        if let failure { throw failure }
    }

    private func append(to partition: Int, in log: SimulatedLog, traceParent: String = "00") {
        guard let authenticator = try? EventRelay.authenticator(), let producer = try? log.makeProducer(client: "test") else {
            return
        }
        let record = OutgoingRecord(
            partition: TopicPartition(.verificationCommands, partition), key: [],
            headers: [
                Header(HeaderName.id, MessageID.random().text), Header(HeaderName.type, "latchkey.test.v1"),
                Header(HeaderName.traceParent, traceParent),
            ],
            value: Array("{}".utf8))
        producer.append(authenticator.sealed(record)) { _ in }
        producer.flush(within: .seconds(5))
    }
}
