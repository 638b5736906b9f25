import EventSchema
import Testing

@testable import EventLogKafka

@Suite struct FlightsTests {
    private let first = TopicPartition(.verificationEvents, 0)
    private let second = TopicPartition(.verificationEvents, 1)
    private let third = TopicPartition(.replies, 0)

    @Test func `what comes alone leaves at once`() {
        var flights = Flights<Int>(limit: 2)
        flights.add(1, to: first)
        #expect(flights.next() == [1])
        #expect(flights.next() == nil)
    }

    @Test func `what comes behind a group of its partition leaves together, in its order, when all of that group have ended`() {
        var flights = Flights<Int>(limit: 2)
        flights.add(1, to: first)
        #expect(flights.next() == [1])
        for number in 2...4 { flights.add(number, to: first) }
        #expect(flights.next() == nil)
        flights.ended(first)
        #expect(flights.next() == [2, 3, 4])
        flights.add(5, to: first)
        flights.ended(first)
        flights.ended(first)
        #expect(flights.next() == nil)
        flights.ended(first)
        #expect(flights.next() == [5])
    }

    @Test func `so many partitions have a group under way, and the others follow in the order in which they came`() {
        var flights = Flights<Int>(limit: 1)
        flights.add(1, to: first)
        flights.add(2, to: second)
        flights.add(3, to: third)
        flights.add(4, to: second)
        #expect(flights.next() == [1])
        #expect(flights.next() == nil)
        flights.ended(first)
        #expect(flights.next() == [2, 4])
        flights.add(5, to: first)
        #expect(flights.next() == nil)
        flights.ended(second)
        flights.ended(second)
        #expect(flights.next() == [3])
        flights.ended(third)
        #expect(flights.next() == [5])
    }

    @Test func `what is held can be given up, and what is under way is not touched`() {
        var flights = Flights<Int>(limit: 1)
        flights.add(1, to: first)
        #expect(flights.next() == [1])
        flights.add(2, to: first)
        flights.add(3, to: second)
        #expect(flights.abandonHeld() == [2, 3])
        #expect(flights.next() == nil)
        flights.add(4, to: second)
        #expect(flights.next() == nil)
        flights.ended(first)
        #expect(flights.next() == [4])
    }
}
