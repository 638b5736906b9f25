import EventSchema
import Testing

@testable import EventLog

/// What a loop knows of the log's clock, and what it must not conclude from it.
@Suite struct LogClockTests {
    private static func at(_ milliseconds: Int64) -> LocalInstant { LocalInstant(milliseconds: milliseconds) }
    private static func time(_ milliseconds: Int64) -> Timestamp { Timestamp(milliseconds: milliseconds) }

    @Test func `an acknowledgement bounds the time from both sides, and the next one more narrowly`() {
        var clock = LogClock()
        #expect(clock.now(at: Self.at(0)) == nil)
        #expect(clock.mayBePast(Self.time(.max), at: Self.at(0)))
        clock.learn(Self.time(10_000), sent: Self.at(100), at: Self.at(4_100))
        #expect(clock.now(at: Self.at(4_100)) == Self.time(10_000))
        #expect(clock.mayBePast(Self.time(14_000), at: Self.at(4_100)))
        #expect(!clock.mayBePast(Self.time(14_001), at: Self.at(4_100)))
        clock.learn(Self.time(12_000), sent: Self.at(5_000), at: Self.at(5_010))
        #expect(clock.now(at: Self.at(5_010)) == Self.time(12_000))
        #expect(!clock.mayBePast(Self.time(12_011), at: Self.at(5_010)))
        // A slow one teaches nothing new.
        clock.learn(Self.time(13_000), sent: Self.at(5_500), at: Self.at(7_500))
        #expect(clock.now(at: Self.at(7_500)) == Self.time(14_490))
    }

    @Test func `an acknowledgement that comes late does not bring back what the clock was before it was set`() {
        var clock = LogClock()
        clock.learn(Self.time(10_000_000), sent: Self.at(0), at: Self.at(5))
        clock.learn(Self.time(6_400_000), sent: Self.at(100), at: Self.at(105))
        clock.learn(Self.time(10_000_050), sent: Self.at(50), at: Self.at(110))
        #expect(clock.now(at: Self.at(110)) == Self.time(6_400_005))
        #expect(clock.isKnown(since: Self.at(99)))
        #expect(!clock.isKnown(since: Self.at(100)))
    }

    @Test func `a clock that was set shows what it was set to`() {
        for change in [-3_600_000, 3_600_000] as [Int64] {
            var clock = LogClock()
            clock.learn(Self.time(10_000_000), sent: Self.at(0), at: Self.at(5))
            clock.learn(Self.time(10_000_100 + change), sent: Self.at(100), at: Self.at(105))
            #expect(clock.now(at: Self.at(105)) == Self.time(10_000_100 + change))
        }
    }

    @Test func `an owner that hears the time late decides nothing that may be past its budget`() throws {
        var scene = Scene()
        scene.acknowledgesProbes = false
        var owner = scene.owner("a")
        try scene.takeOver(&owner)
        scene.command("x", 3, budget: 1_000)
        try scene.deliver(to: &owner)
        let probe = owner.unsent.removeFirst()
        let appended = scene.append(probe.record)
        // The process is stopped, and goes on.
        scene.advance(.seconds(6))
        try scene.give(.appended(try #require(probe.token), appended), to: &owner)
        // It asks again, and nothing else.
        #expect(owner.unsent.map { $0.token?.sequence } == [0])
        try scene.settle(&owner)
        #expect(owner.loop.counters.expired == 1)
        #expect(scene.replies.isEmpty)
    }

    @Test func `what was sent before a release does not tell the time after it`() throws {
        var scene = Scene()
        scene.acknowledgesProbes = false
        var owner = scene.owner("a")
        try scene.takeOver(&owner)
        let probe = owner.unsent.removeFirst()
        try scene.give(.released, to: &owner)
        try scene.give(.appended(try #require(probe.token), scene.append(probe.record)), to: &owner)
        try scene.takeOver(&owner)
        #expect(!owner.loop.isReady)
        try scene.settle(&owner)
        #expect(owner.loop.isReady)
    }
}
