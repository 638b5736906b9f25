import Testing

@testable import IdentityService

@Suite struct GatheringTests {
    private let gathering = Gathering<Int>(patience: .milliseconds(100))
    private let start = ContinuousClock.now

    @Test(arguments: [0, 1]) func `nothing is held where nothing would be gained`(waiting: Int) {
        #expect(gathering.add(1, waiting: waiting, at: start) == [1])
        #expect(gathering.add(2, waiting: waiting, at: start) == [2])
    }

    @Test func `as many leave together as still wait, in their order`() {
        #expect(gathering.add(1, waiting: 5, at: start).isEmpty)
        #expect(gathering.add(2, waiting: 4, at: start).isEmpty)
        #expect(gathering.add(3, waiting: 3, at: start) == [1, 2, 3])
        #expect(gathering.add(4, waiting: 2, at: start).isEmpty)
        #expect(gathering.add(5, waiting: 0, at: start) == [4, 5])
    }

    @Test func `what is held leaves, too, when fewer wait because some gave up`() {
        #expect(gathering.add(1, waiting: 3, at: start).isEmpty)
        #expect(gathering.release(waiting: 2, at: start).isEmpty)
        #expect(gathering.release(waiting: 1, at: start) == [1])
        #expect(gathering.release(waiting: 0, at: start).isEmpty)
    }

    @Test func `what was held for long enough leaves with the next one, whatever waits`() {
        #expect(gathering.add(1, waiting: 9, at: start).isEmpty)
        #expect(gathering.add(2, waiting: 9, at: start + .milliseconds(99)).isEmpty)
        #expect(gathering.add(3, waiting: 9, at: start + .milliseconds(100)) == [1, 2, 3])
        // The time counts from what is held now.
        #expect(gathering.add(4, waiting: 9, at: start + .milliseconds(150)).isEmpty)
        #expect(gathering.add(5, waiting: 9, at: start + .milliseconds(249)).isEmpty)
        #expect(gathering.add(6, waiting: 9, at: start + .milliseconds(250)) == [4, 5, 6])
    }

    @Test func `what was held for long enough leaves, though nothing more comes`() {
        #expect(gathering.release(waiting: 9, at: start + .seconds(1)).isEmpty)
        #expect(gathering.add(1, waiting: 9, at: start + .seconds(2)).isEmpty)
        #expect(gathering.release(waiting: 9, at: start + .milliseconds(2_099)).isEmpty)
        #expect(gathering.release(waiting: 9, at: start + .milliseconds(2_100)) == [1])
        #expect(gathering.release(waiting: 9, at: start + .seconds(9)).isEmpty)
    }
}
