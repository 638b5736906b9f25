import Crypto
import EventLog
import EventSchema
import Runtime
import Synchronization
import Testing

@testable import Sealing

/// What this machine's clock says decides nothing.
@Suite(.timeLimit(.minutes(1))) struct `Keys by the log's clock` {
    // Decades behind and ahead of any machine that runs this.
    private static let past = Timestamp(milliseconds: 500_000_000_000)
    private static let future = Timestamp(milliseconds: 4_000_000_000_000)

    @Test(arguments: [past, future])
    func `the log's time is learnt from an append, and runs on`(then: Timestamp) throws {
        let log = FakeLog(at: then)
        let time = LogTime()
        #expect(time.now == nil)
        let producer = time.learning(from: try log.makeProducer(client: "test"))
        producer.append(KeyRecord.publishing(key("a"), at: then, by: try authenticator())) { _ in }
        let first = try #require(time.now)
        #expect(first >= then && first - then < .minutes(1))
        #expect(try #require(time.now) >= first)
    }

    @Test(arguments: [Interval.hours(3), .hours(-26)])
    func `the log's clock may be set`(by jump: Interval) throws {
        let log = FakeLog(at: Self.past)
        let time = LogTime()
        let producer = time.learning(from: try log.makeProducer(client: "test"))
        for then in [Self.past, Self.past + jump] {
            log.state.withLock { $0.clock = then }
            producer.append(KeyRecord.publishing(key("a"), at: then, by: try authenticator())) { _ in }
            let now = try #require(time.now)
            #expect(now >= then && now - then < .minutes(1))
        }
    }

    @Test(arguments: [past, future])
    func `a failed append says nothing`(then: Timestamp) throws {
        let log = FakeLog(at: then)
        log.state.withLock { $0.failures = 1 }
        let time = LogTime()
        let producer = time.learning(from: try log.makeProducer(client: "test"))
        producer.append(KeyRecord.publishing(key("a"), at: then, by: try authenticator())) { _ in }
        #expect(time.now == nil)
    }

    @Test(arguments: [past, future])
    func `a service is ready with a key that is usable at the log's time`(then: Timestamp) async throws {
        let log = FakeLog(at: then)
        let authenticator = try authenticator()
        let own = DerivedSealingKey(service: .verification, secret: .random(count: 32))
        let keeper = KeyKeeper(
            log: log, directory: KeyDirectory(authenticator: authenticator), authenticator: authenticator, own: .derived(own),
            needs: [.notifier], context: ServiceContext(logger: .silent), interval: .milliseconds(40))
        try await running(keeper) {
            try await eventually("the notifier's key is missing") {
                keeper.readiness.obstacles.first?.obstacle == "no key to seal to: notifier"
            }
            // Usable at this machine's time, not at the log's.
            let keys = [key("machine", around: Timestamp(milliseconds: WallClock.now())), key("log", around: then)]
            for key in keys { log.append(KeyRecord.publishing(key, at: then, by: authenticator)) }
            try await eventually("ready") { keeper.readiness.isReady }
            // The other key may be read first, and is better than none.
            try await eventually("the key of the log's time is taken") {
                keeper.time.now.flatMap { keeper.directory.recipient(.notifier, at: $0)?.id } == "log"
            }
        }
    }
}

private func key(_ id: String, around time: Timestamp) -> SealingKeyPublished {
    var key = key(id)
    key.notBefore = time - .hours(1)
    key.notAfter = time + .hours(1)
    return key
}
