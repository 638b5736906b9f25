import EventSchema
import Testing

@testable import EventLogKafka

@Suite struct FlightsTests {
    private let first = TopicPartition(.verificationEvents, 0)
    private let second = TopicPartition(.verificationEvents, 1)
    private let third = TopicPartition(.replies, 0)
    private let now = ContinuousClock.now

    /// With partitions of which a record has stood.
    private func flights(limit: Int) -> Flights<Int> {
        var flights = Flights<Int>(limit: limit, patience: .seconds(1))
        for partition in [first, second, third] {
            flights.add(0, to: partition)
            #expect(flights.next(at: now) == [0])
            flights.ended(partition, stoodAt: now)
        }
        return flights
    }

    @Test func `what comes alone leaves at once`() {
        var flights = self.flights(limit: 2)
        flights.add(1, to: first)
        #expect(flights.next(at: now) == [1])
        #expect(flights.next(at: now) == nil)
    }

    @Test func `what comes behind a group of its partition leaves together, in its order, when all of that group have ended`() {
        var flights = self.flights(limit: 2)
        flights.add(1, to: first)
        #expect(flights.next(at: now) == [1])
        for number in 2...4 { flights.add(number, to: first) }
        #expect(flights.next(at: now) == nil)
        flights.ended(first, stoodAt: now)
        #expect(flights.next(at: now) == [2, 3, 4])
        flights.add(5, to: first)
        flights.ended(first, stoodAt: now)
        flights.ended(first, stoodAt: now)
        #expect(flights.next(at: now) == nil)
        flights.ended(first, stoodAt: now)
        #expect(flights.next(at: now) == [5])
    }

    @Test func `so many partitions have a group under way, and the others follow in the order in which they came`() {
        var flights = self.flights(limit: 1)
        flights.add(1, to: first)
        flights.add(2, to: second)
        flights.add(3, to: third)
        flights.add(4, to: second)
        #expect(flights.next(at: now) == [1])
        #expect(flights.next(at: now) == nil)
        flights.ended(first, stoodAt: now)
        #expect(flights.next(at: now) == [2, 4])
        flights.add(5, to: first)
        #expect(flights.next(at: now) == nil)
        flights.ended(second, stoodAt: now)
        flights.ended(second, stoodAt: now)
        #expect(flights.next(at: now) == [3])
        flights.ended(third, stoodAt: now)
        #expect(flights.next(at: now) == [5])
    }

    @Test func `what is held can be given up, and what is under way is not touched`() {
        var flights = self.flights(limit: 1)
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
        flights.ended(first, stoodAt: now)
        #expect(flights.next(at: now) == [4])
    }

    @Test func `nobody waits for a group whose broker is away`() {
        var flights = self.flights(limit: 1)
        flights.add(1, to: first)
        #expect(flights.next(at: now) == [1])
        flights.add(2, to: first)
        flights.add(3, to: second)
        #expect(flights.next(at: now + .milliseconds(900)) == nil)
        #expect(flights.next(at: now + .seconds(1)) == [3])
        #expect(flights.next(at: now + .seconds(1)) == nil)
        flights.ended(first, stoodAt: now)
        flights.ended(second, stoodAt: now)
        #expect(flights.next(at: now + .seconds(1)) == [2])
    }

    @Test func `the first of a partition leaves alone, and the others together once one of it stands`() {
        var flights = Flights<Int>(limit: 2, patience: .seconds(1))
        for number in 1...4 { flights.add(number, to: first) }
        #expect(flights.next(at: now) == [1])
        #expect(flights.next(at: now) == nil)
        flights.ended(first, stoodAt: nil)
        #expect(flights.next(at: now) == [2])
        flights.add(5, to: first)
        flights.ended(first, stoodAt: now)
        #expect(flights.next(at: now) == [3, 4, 5])
    }

    @Test func `what a broker may have forgotten is first again`() {
        for isRemembered in [false, true] {
            var flights = self.flights(limit: 2)
            for number in 1...2 { flights.add(number, to: first) }
            let later = now + Flights<Int>.memory - .seconds(isRemembered ? 1 : 0)
            #expect(flights.next(at: later) == (isRemembered ? [1, 2] : [1]))
        }
    }

    @Test func `one who begins anew is unknown everywhere`() {
        var flights = self.flights(limit: 2)
        flights.beginAnew()
        for partition in [first, second] {
            for number in 1...2 { flights.add(number, to: partition) }
            #expect(flights.next(at: now) == [1])
        }
    }
}
