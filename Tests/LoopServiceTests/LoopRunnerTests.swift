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

    @Test func `it takes its partitions over though the log was away while it started`() async throws {
        let log = UnreliableLog(SimulatedLog(partitions: 2), failures: 2)
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

    @Test func `what cannot be projected stops its partition and no other`() async throws {
        try await withRunner(store: FaultyStore(), storage: .projection) { log, driver in
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

    /// Cannot project what belongs to partition 1.
    private struct FaultyStore: ProjectionStore {
        typealias Domain = RelayDomain

        func checkpoints(of partitions: [Int]) throws(LogError) -> [Int: Checkpoint] { [:] }

        func load(_ requests: [Int: LoadRequest<String>]) throws(LogError) -> [Int: LoadedBatch<String, Int>] {
            requests.mapValues { _ in LoadedBatch(aggregates: [:]) }
        }

        func project(_ batches: [Int: ProjectionBatch<EventBody>]) throws(LogError) -> [Int: ProjectionOutcome] {
            if batches[1] != nil { throw LogError(.misconfigured, "a row that cannot be") }
            return batches.mapValues { _ in .projected }
        }
    }

    private func withRunner<Store: ProjectionStore>(
        store: Store, storage: LoopSettings.Storage,
        _ body: (SimulatedLog, LoopDriver<Store>) async throws -> Void
    ) async throws where Store.Domain == RelayDomain {
        let log = SimulatedLog(partitions: 2)
        var settings = Self.settings
        settings.storage = storage
        let runner = LoopRunner(
            log: log, domain: RelayDomain(), settings: settings, authenticator: try EventRelay.authenticator(), store: store,
            context: ServiceContext(logger: .silent))
        let (stop, stopping) = AsyncStream.makeStream(of: Void.self)
        let service = Task { await ServiceLifecycle([runner], logger: .silent).run(stop: stop) }
        var failure: (any Error)?
        do { try await body(log, runner.driver) } catch { failure = error }
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
