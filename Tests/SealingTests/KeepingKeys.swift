import EventLog
import EventSchema
import Runtime
import Synchronization
import Testing

@testable import Crypto
@testable import Sealing

@Suite(.timeLimit(.minutes(1))) struct KeepingKeys {
    private let log = FakeLog(at: morning)
    private let clock = Clock(morning)

    // MARK: Keys that follow from a secret

    @Test func `a derived key is published once, and not again after a restart`() async throws {
        let key = DerivedSealingKey(service: .verification, secret: .random(count: 32))
        for _ in 0..<2 {
            let keeper = try keeper(.derived(key))
            try await running(keeper) { try await eventually("ready") { keeper.readiness.isReady } }
            #expect(keeper.directory.recipient(.verification, at: morning)?.id == key.id)
        }
        #expect(log.records.count == 1)
    }

    @Test func `of two secrets the one that started last wins, and they do not fight`() async throws {
        let keys = (0..<2).map { _ in DerivedSealingKey(service: .verification, secret: .random(count: 32)) }
        let keepers = try keys.map { try keeper(.derived($0)) }
        try await running(keepers[0]) {
            try await eventually("the first is published") { log.records.count == 1 }
            clock.advance(by: .seconds(1))
            try await running(keepers[1]) {
                try await eventually("the second is the newest") {
                    keepers[0].directory.recipient(.verification, at: clock.now)?.id == keys[1].id
                }
                let rounds = clock.asked
                try await eventually("both have looked several times") { clock.asked > rounds + 50 }
                #expect(log.records.count == 2)
            }
        }
        // The first secret is given back to the service.
        clock.advance(by: .seconds(1))
        let again = try keeper(.derived(keys[0]))
        try await running(again) { try await eventually("the first again") { again.readiness.isReady } }
        #expect(again.directory.recipient(.verification, at: clock.now)?.id == keys[0].id)
    }

    @Test func `a key that could not be appended is appended again`() async throws {
        log.state.withLock { $0.failures = 2 }
        let key = DerivedSealingKey(service: .verification, secret: .random(count: 32))
        // Long before the next time that own keys are looked after.
        let keeper = try keeper(.derived(key), interval: .seconds(600))
        try await running(keeper) { try await eventually("ready") { keeper.readiness.isReady } }
        #expect(log.records.count == 1)
    }

    // MARK: Readiness

    @Test func `a service without keys waits for those that it needs, and names them`() async throws {
        let keeper = try keeper(.none, needs: [.identity, .notifier])
        func obstacle() -> String? { keeper.readiness.obstacles.first?.obstacle }
        #expect(!keeper.readiness.isReady)
        try await running(keeper) {
            try await eventually("names both") { obstacle() == "no key to seal to: identity, notifier" }
            log.append(KeyRecord.publishing(key("n"), at: morning, by: try authenticator()))
            try await eventually("names one") { obstacle() == "no key to seal to: identity" }
            log.append(KeyRecord.publishing(key("i", of: .identity), at: morning, by: try authenticator()))
            try await eventually("ready") { keeper.readiness.isReady }
            clock.advance(by: .days(3))
            try await eventually("the keys have ended") { obstacle() == "no key to seal to: identity, notifier" }
        }
    }

    // MARK: A log with faults

    @Test(arguments: LogError.Code.allCases.filter(\.passes))
    func `a log that is away is waited for, and a broken consumer made anew`(code: LogError.Code) async throws {
        log.state.withLock { $0.away = code }
        let keeper = try keeper(.none, needs: [.notifier])
        try await running(keeper) {
            try await eventually("looked while it was away") {
                keeper.readiness.obstacles.first?.obstacle == "the topic keys cannot be read"
            }
            log.state.withLock { $0.away = nil }
            log.append(KeyRecord.publishing(key("a"), at: morning, by: try authenticator()))
            try await eventually("ready") { keeper.readiness.isReady }
            log.state.withLock { $0.generation += 1 }
            log.append(KeyRecord.publishing(key("b"), at: morning, by: try authenticator()))
            try await eventually("reads on") { keeper.directory.recipient(.notifier, at: morning)?.id == "b" }
        }
    }

    @Test func `a log that lost data ends the service`() async throws {
        log.append(KeyRecord.publishing(key("a"), at: morning, by: try authenticator()))
        let keeper = try keeper(.none, needs: [.notifier])
        let run = Task { try await keeper.run() }
        try await eventually("ready") { keeper.readiness.isReady }
        log.state.withLock { state in
            state.records.removeAll()
            state.generation += 1
        }
        await #expect {
            try await run.value
        } throws: { error in
            if case .log(let error)? = error as? SealingError { error.code == .truncated } else { false }
        }
    }

    @Test func `void records are counted by reason`() async throws {
        let metrics = Metrics()
        var forged = KeyRecord.publishing(key("a"), at: morning, by: try authenticator())
        forged.value.append(0)
        log.append(forged)
        log.append(KeyRecord.publishing(key("b"), at: morning, by: try authenticator()))
        let keeper = try keeper(.none, needs: [.notifier], metrics: metrics)
        try await running(keeper) { try await eventually("ready") { keeper.readiness.isReady } }
        #expect(metrics.render().contains(#"latchkey_sealing_keys_void_records_total{reason="forged"} 1"#))
    }

    @Test func `a sender's pair is forgotten in time, although nothing is sealed`() async throws {
        let time = Mutex(ContinuousClock.now)
        let authenticator = try authenticator()
        let sealer = BoxSealer(lifetime: .seconds(86_400)) { time.withLock { $0 } }
        let keeper = KeyKeeper(
            log: log, directory: KeyDirectory(authenticator: authenticator), authenticator: authenticator, own: .none, needs: [],
            sealers: [sealer], context: ServiceContext(logger: .silent), interval: .milliseconds(40))
        let sender = sealer.sender
        try await running(keeper) {
            try await eventually("ready") { keeper.readiness.isReady }
            #expect(sealer.sender == sender)
            time.withLock { $0 += .seconds(86_400) }
            try await eventually("another pair") { sealer.sender != sender }
        }
    }

    // MARK: Helpers

    private func keeper(
        _ own: OwnSealingKeys, needs: Set<ServiceName> = [], metrics: Metrics = Metrics(), interval: Duration = .milliseconds(40)
    ) throws -> KeyKeeper {
        try makeKeeper(log: log, clock: clock, own, needs: needs, metrics: metrics, interval: interval)
    }
}

func makeKeeper(
    log: FakeLog, clock: Clock, _ own: OwnSealingKeys, needs: Set<ServiceName> = [], metrics: Metrics = Metrics(),
    interval: Duration = .milliseconds(40), macKeys: ClosedRange<UInt32> = 1...1
) throws -> KeyKeeper {
    let authenticator = try authenticator(macKeys)
    return KeyKeeper(
        log: log, directory: KeyDirectory(authenticator: authenticator), authenticator: authenticator, own: own, needs: needs,
        context: ServiceContext(logger: .silent, metrics: metrics), interval: interval, now: { clock.now })
}

/// Runs a keeper beside `body`, and ends it.
func running(_ keeper: KeyKeeper, _ body: () async throws -> Void) async throws {
    let run = Task { try await keeper.run() }
    let result: Result<Void, any Error>
    do {
        result = .success(try await body())
    } catch {
        result = .failure(error)
    }
    run.cancel()
    try await run.value
    try result.get()
}

/// The log's clock, moved by hand.
final class Clock: Sendable {
    private let state: Mutex<(now: Timestamp, asked: Int)>

    init(_ now: Timestamp) { state = Mutex((now, 0)) }

    var now: Timestamp {
        state.withLock { state in
            state.asked += 1
            return state.now
        }
    }

    /// How often somebody looked.
    var asked: Int { state.withLock { $0.asked } }

    func advance(by interval: Interval) { state.withLock { $0.now = $0.now + interval } }
}
