import SeededRandom
import Testing

@testable import IdentityService

@Suite struct OpenWorkTests {
    @Test func `nothing open: everything read is committed`() {
        var work = OpenWork<Int64>(at: 5)
        #expect(work.committable == 5)
        work.take(5, next: 6, isWork: false)
        work.take(9, next: 10, isWork: false)
        #expect(work.committable == 10)
        #expect(work.read == 10)
    }

    @Test func `the first that is not done holds the position, whatever is done behind it`() {
        var work = OpenWork<Int64>(at: 0)
        for offset in 0..<4 as Range<Int64> { work.take(offset, next: offset + 1, isWork: offset != 1) }
        work.finish(3)
        work.finish(2)
        #expect(work.committable == 0)
        #expect(work.count == 3)
        work.finish(0)
        #expect(work.committable == 4)
        #expect(work.count == 0)
    }

    @Test func `the position before the work is committed, not its own`() {
        var work = OpenWork<String>(at: "start")
        work.take(1, next: "after 1", isWork: false)
        work.take(2, next: "after 2", isWork: true)
        work.take(3, next: "after 3", isWork: true)
        #expect(work.committable == "after 1")
        work.finish(2)
        #expect(work.committable == "after 2")
        work.finish(3)
        #expect(work.committable == "after 3")
    }

    @Test func `what is not open is finished for nothing`() {
        var work = OpenWork<Int64>(at: 0)
        work.finish(7)
        work.take(0, next: 1, isWork: true)
        work.finish(1)
        #expect(work.committable == 0)
        work.finish(0)
        work.finish(0)
        #expect(work.committable == 1)
    }

    @Test func `in any order, the position never passes what is open`() {
        for seed in 0..<50 as Range<UInt64> {
            var generator = SeededGenerator(seed: seed)
            var work = OpenWork<Int64>(at: 0)
            for offset in 0..<40 as Range<Int64> { work.take(offset, next: offset + 1, isWork: true) }
            var open = Set<Int64>(0..<40)
            for offset in (0..<40 as Range<Int64>).shuffled(using: &generator) {
                work.finish(offset)
                open.remove(offset)
                #expect(work.committable == (open.min() ?? 40))
            }
        }
    }
}
