import EventSchema
import Testing

@testable import EventLogKafka

@Suite struct FlightsTests {
    private let first = TopicPartition(.verificationEvents, 0)
    private let second = TopicPartition(.verificationEvents, 1)
    private let third = TopicPartition(.replies, 0)
    private let now = ContinuousClock.now

    @Test func `what comes alone leaves at once`() {
        var flights = Flights<Int>(limit: 2, patience: .seconds(1))
        flights.add(1, to: first)
        #expect(flights.next(at: now) == [1])
        #expect(flights.next(at: now) == nil)
    }

    @Test func `what comes behind a group of its partition leaves together, in its order, when all of that group have ended`() {
        var flights = Flights<Int>(limit: 2, patience: .seconds(1))
        flights.add(1, to: first)
        #expect(flights.next(at: now) == [1])
        for number in 2...4 { flights.add(number, to: first) }
        #expect(flights.next(at: now) == nil)
        flights.ended(first)
        #expect(flights.next(at: now) == [2, 3, 4])
        flights.add(5, to: first)
        flights.ended(first)
        flights.ended(first)
        #expect(flights.next(at: now) == nil)
        flights.ended(first)
        #expect(flights.next(at: now) == [5])
    }

    @Test func `so many partitions have a group under way, and the others follow in the order in which they came`() {
        var flights = Flights<Int>(limit: 1, patience: .seconds(1))
        flights.add(1, to: first)
        flights.add(2, to: second)
        flights.add(3, to: third)
        flights.add(4, to: second)
        #expect(flights.next(at: now) == [1])
        #expect(flights.next(at: now) == nil)
        flights.ended(first)
        #expect(flights.next(at: now) == [2, 4])
        flights.add(5, to: first)
        #expect(flights.next(at: now) == nil)
        flights.ended(second)
        flights.ended(second)
        #expect(flights.next(at: now) == [3])
        flights.ended(third)
        #expect(flights.next(at: now) == [5])
    }

    @Test func `what is held can be given up, and what is under way is not touched`() {
        var flights = Flights<Int>(limit: 1, patience: .seconds(1))
        flights.add(1, to: first)
        #expect(flights.next(at: now) == [1])
        flights.add(2, to: first)
        flights.add(3, to: second)
        #expect(flights.abandonHeld(of: second) == [3])
        flights.add(3, to: second)
        #expect(flights.abandonHeld() == [2, 3])
        #expect(flights.next(at: now) == nil)
        flights.add(4, to: second)
        #expect(flights.next(at: now) == nil)
        flights.ended(first)
        #expect(flights.next(at: now) == [4])
    }

    @Test func `nobody waits for a group whose broker is away`() {
        var flights = Flights<Int>(limit: 1, patience: .seconds(1))
        flights.add(1, to: first)
        #expect(flights.next(at: now) == [1])
        flights.add(2, to: first)
        flights.add(3, to: second)
        #expect(flights.next(at: now + .milliseconds(900)) == nil)
        #expect(flights.next(at: now + .seconds(1)) == [3])
        #expect(flights.next(at: now + .seconds(1)) == nil)
        flights.ended(first)
        flights.ended(second)
        #expect(flights.next(at: now + .seconds(1)) == [2])
    }
}
