import Runtime
import Testing

@Suite struct ServiceLifecycleTests {
    private struct Broken: Error {}
    private let recorder = LogRecorder()
    private let events = Observed<[String]>([])
    private let stop: AsyncStream<Void>
    private let report: AsyncStream<Void>.Continuation

    init() { (stop, report) = AsyncStream.makeStream(of: Void.self) }

    private func lifecycle(_ components: [any Component], readiness: Readiness? = nil) -> ServiceLifecycle {
        ServiceLifecycle(
            components, logger: Logger(service: "test", level: .debug, sink: recorder), readiness: readiness,
            cancelDeadline: .milliseconds(50))
    }

    /// Notes when it starts, when it is asked to stop and when it has.
    private func orderly(_ name: String, drainDeadline: Duration = .seconds(10)) -> ClosureComponent {
        ClosureComponent(name, drainDeadline: drainDeadline) { [events] in
            events.update { $0.append("\(name) runs") }
            await gracefulShutdown()
            events.update { $0.append("\(name) asked") }
            await Task.yield()
            events.update { $0.append("\(name) ended") }
        }
    }

    /// Does not hear when it is asked, only when it is cancelled.
    private func deaf(_ name: String, drainDeadline: Duration) -> ClosureComponent {
        ClosureComponent(name, drainDeadline: drainDeadline) { [events] in
            events.update { $0.append("\(name) runs") }
            while true { try await Task.sleep(for: .seconds(3_600)) }
        }
    }

    /// Hears nothing at all.
    private func stuck(_ name: String, until gate: Observed<Bool>, drainDeadline: Duration) -> ClosureComponent {
        ClosureComponent(name, drainDeadline: drainDeadline) { [events] in
            events.update { $0.append("\(name) runs") }
            await gate.wait { $0 }
        }
    }

    private func running(_ count: Int) async {
        await events.wait { $0.count { $0.hasSuffix("runs") } == count }
    }

    @Test func `components end in reverse, one after the other`() async {
        let lifecycle = lifecycle([orderly("pool"), orderly("log"), orderly("server")])
        let run = Task { await lifecycle.run(stop: stop) }
        await running(3)
        report.yield()
        #expect(await run.value == 0)
        #expect(
            events.value.suffix(6) == ["server asked", "server ended", "log asked", "log ended", "pool asked", "pool ended"])
        #expect(!recorder.entries.contains { $0.level >= .warning })
    }

    @Test func `a service that stops is not ready`() async {
        let readiness = Readiness()
        let gate = Observed(false)
        let lifecycle = lifecycle([stuck("server", until: gate, drainDeadline: .seconds(10))], readiness: readiness)
        let run = Task { await lifecycle.run(stop: stop) }
        await running(1)
        #expect(readiness.isReady)
        report.yield()
        while readiness.isReady { await Task.yield() }
        #expect(readiness.obstacles.map(\.obstacle) == ["stopping"])
        gate.update { $0 = true }
        #expect(await run.value == 0)
    }

    @Test func `a component that throws ends the service`() async {
        let broken = ClosureComponent("broken") { [events] in
            await events.wait { $0.count { $0.hasSuffix("runs") } == 2 }
            throw Broken()
        }
        #expect(await lifecycle([orderly("pool"), broken, orderly("server")]).run(stop: stop) == 1)
        #expect(events.value.suffix(4) == ["server asked", "server ended", "pool asked", "pool ended"])
        let line = recorder.entries.first { $0.level == .error }
        #expect(line?.message == "component failed")
        #expect(line?["component"] == .text("broken"))
        #expect(line?["error"] == .text("Broken"))
        #expect(recorder.entries.count { $0.level == .error } == 1)
    }

    @Test func `a component that ends unasked ends the service`() async {
        #expect(await lifecycle([orderly("pool"), ClosureComponent("short") {}]).run(stop: stop) == 1)
        #expect(recorder.entries.filter { $0.level == .error }.map(\.message) == ["component ended unasked"])
        #expect(events.value.last == "pool ended")
    }

    @Test func `a component past its deadline is cancelled, and the others still get their turn`() async {
        let lifecycle = lifecycle([orderly("pool"), deaf("deaf", drainDeadline: .milliseconds(20))])
        let run = Task { await lifecycle.run(stop: stop) }
        await running(2)
        report.yield()
        #expect(await run.value == 1)
        #expect(recorder.entries.map(\.message).contains("component is past its deadline"))
        #expect(events.value.last == "pool ended")
    }

    @Test func `a component that cannot be stopped is left behind`() async {
        let gate = Observed(false)
        let lifecycle = lifecycle([orderly("pool"), stuck("stuck", until: gate, drainDeadline: .milliseconds(20))])
        let run = Task { await lifecycle.run(stop: stop) }
        await running(2)
        report.yield()
        #expect(await run.value == 1)
        #expect(recorder.entries.map(\.message).contains("component did not end"))
        #expect(events.value.last == "pool ended")
        gate.update { $0 = true }
    }

    @Test func `a second signal ends everything at once`() async {
        let gate = Observed(false)
        let lifecycle = lifecycle([
            deaf("a", drainDeadline: .seconds(600)), deaf("b", drainDeadline: .seconds(600)),
            stuck("c", until: gate, drainDeadline: .seconds(600)),
        ])
        let run = Task { await lifecycle.run(stop: stop) }
        await running(3)
        report.yield()
        report.yield()
        #expect(await run.value == 1)
        #expect(recorder.entries.filter { $0.message == "component did not end" }.map { $0["component"] } == [.text("c")])
        gate.update { $0 = true }
    }

    @Test func `a stop that comes before the components run is not lost`() async {
        report.yield()
        #expect(await lifecycle([orderly("pool"), orderly("server")]).run(stop: stop) == 0)
        #expect(events.value.last == "pool ended")
    }

    @Test func `a worker thread is a component`() async {
        let mailbox = Mailbox<Int>()
        let thread = WorkerThread(name: "worker") {
            mailbox.wake()
        } _: { [events] stop in
            events.update { $0.append("thread runs") }
            while !stop.isRaised { _ = mailbox.receive(within: nil) }
            events.update { $0.append("thread ended") }
        }
        let lifecycle = lifecycle([orderly("pool"), thread])
        let run = Task { await lifecycle.run(stop: stop) }
        await running(2)
        report.yield()
        #expect(await run.value == 0)
        #expect(events.value.suffix(3) == ["thread ended", "pool asked", "pool ended"])
    }

    @Test func `a shutdown handler runs once, whenever it is asked for`() async {
        let signal = ShutdownSignal()
        let count = Observed(0)
        await ShutdownSignal.$current.withValue(signal) {
            await withGracefulShutdownHandler {
                signal.request()
                signal.request()
            } onShutdown: {
                count.update { $0 += 1 }
            }
            #expect(count.value == 1)
            await withGracefulShutdownHandler {
            } onShutdown: {
                count.update { $0 += 1 }
            }
        }
        #expect(count.value == 2)
        #expect(signal.isRequested)
    }
}
