import EventLog
import EventSchema
import Runtime
import Testing

@Suite struct `Reading` {
    static let events = TopicPartition(.identityEvents, 0)
    static let replies = TopicPartition(.replies, 1)

    @Test(arguments: LogBackend.all)
    func `describes the same log to everybody`(backend: LogBackend) throws {
        let under = try backend.make(5)
        let description = try under.log.describe()
        #expect(description.partitions == 5)
        #expect(description.id.count == 16)
        #expect(try under.anotherProcess().describe() == description)
        let other = try backend.make(5)
        #expect(try other.log.describe().id != description.id)
    }

    @Test(arguments: LogBackend.all)
    func `starts where it is told, and goes on with what comes`(backend: LogBackend) throws {
        let under = try backend.make(2)
        let writer = try under.anotherProcess().writer()
        try writer.append((0..<10).map { OutgoingRecord("\($0)", to: Self.events) })
        let reader = try under.log.reader()
        reader.consumer.follow(Self.events, from: 7)
        try reader.poll { $0.count(Self.events) == 3 }
        try writer.append("10", to: Self.events)
        try reader.poll { $0.count(Self.events) == 4 }
        #expect(reader.records[Self.events]?.map(\.offset) == [7, 8, 9, 10])
    }

    @Test(arguments: LogBackend.all)
    func `moves where it is told`(backend: LogBackend) throws {
        let under = try backend.make(2)
        try under.log.writer().append((0..<6).map { OutgoingRecord("\($0)", to: Self.events) })
        let reader = try under.log.reader()
        reader.consumer.follow(Self.events, from: 4)
        try reader.poll { $0.count(Self.events) == 2 }
        reader.consumer.follow(Self.events, from: 1)
        try reader.poll { $0.count(Self.events) == 7 }
        #expect(reader.records[Self.events]?.map(\.offset) == [4, 5, 1, 2, 3, 4, 5])
    }

    @Test(arguments: LogBackend.all)
    func `stops when it is told`(backend: LogBackend) throws {
        let under = try backend.make(2)
        let writer = try under.log.writer()
        let reader = try under.log.reader()
        reader.consumer.follow(Self.events, from: 0)
        reader.consumer.follow(Self.replies, from: 0)
        try reader.poll { $0.ends.count == 2 }
        reader.consumer.unfollow(Self.events)
        try writer.append("unheard", to: Self.events)
        try writer.append("heard", to: Self.replies)
        try reader.poll { $0.count(Self.replies) == 1 }
        for _ in 0..<3 { try reader.poll() }
        #expect(reader.count(Self.events) == 0)
    }

    @Test(arguments: LogBackend.all)
    func `tells the end once, each time it is reached`(backend: LogBackend) throws {
        let under = try backend.make(2)
        let writer = try under.log.writer()
        let reader = try under.log.reader()
        reader.consumer.follow(Self.events, from: 0)
        try reader.poll { $0.ends[Self.events] == [0] }
        try writer.append((0..<3).map { OutgoingRecord("\($0)", to: Self.events) })
        try reader.poll { $0.ends[Self.events]?.last == 3 }
        for _ in 0..<8 { try reader.poll() }
        #expect(reader.ends[Self.events]?.filter { $0 == 3 } == [3])
        #expect(reader.count(Self.events) == 3)
        reader.consumer.follow(Self.events, from: 3)
        try reader.poll { $0.ends[Self.events]?.filter { $0 == 3 }.count == 2 }
    }

    @Test(arguments: LogBackend.all)
    func `tells that an offset does not exist, and goes on when it is told where`(backend: LogBackend) throws {
        let under = try backend.make(2)
        try under.log.writer().append((0..<3).map { OutgoingRecord("\($0)", to: Self.events) })
        let reader = try under.log.reader()
        reader.consumer.follow(Self.events, from: 4)
        try reader.poll { !$0.outOfRange.isEmpty }
        #expect(reader.outOfRange == [.init(partition: Self.events, bounds: 0..<3)])
        #expect(reader.count(Self.events) == 0)
        reader.consumer.follow(Self.events, from: 3)
        try reader.poll { $0.ends[Self.events] == [3] }
        reader.consumer.follow(Self.events, from: 2)
        try reader.poll { $0.count(Self.events) == 1 }
    }

    @Test(arguments: LogBackend.whole)
    func `finds bounds and times`(backend: LogBackend) throws {
        let under = try backend.make(2)
        let writer = try under.log.writer()
        let reader = try under.log.reader()
        #expect(try reader.consumer.bounds(of: Self.events) == 0..<0)
        #expect(try reader.consumer.offset(of: Self.events, at: Timestamp(milliseconds: 0)) == 0)
        var appended: [Appended] = []
        while Set(appended.map(\.time)).count < 5 { appended.append(try writer.append("tick", to: Self.events)) }
        #expect(try reader.consumer.bounds(of: Self.events) == 0..<Int64(appended.count))
        for record in appended {
            let first = try #require(appended.first { $0.time == record.time })
            #expect(try reader.consumer.offset(of: Self.events, at: record.time) == first.offset)
            let next = appended.first { $0.time > record.time }?.offset ?? Int64(appended.count)
            #expect(try reader.consumer.offset(of: Self.events, at: record.time + .milliseconds(1)) == next)
        }
        #expect(try reader.consumer.offset(of: Self.events, at: Timestamp(milliseconds: 1)) == 0)
        #expect(try reader.consumer.offset(of: Self.events, at: Timestamp(milliseconds: .max / 2)) == Int64(appended.count))
    }

    @Test(arguments: LogBackend.all)
    func `shows the same to everybody`(backend: LogBackend) throws {
        let under = try backend.make(2)
        let readers = [try under.log.reader(), try under.log.reader(), try under.anotherProcess().reader()]
        for reader in readers { reader.consumer.follow(Self.events, from: 0) }
        let writers = [try under.log.writer(), try under.anotherProcess().writer()]
        for round in 0..<20 {
            try writers[round % 2].append((0..<10).map { OutgoingRecord("\(round) \($0)", to: Self.events) })
            for reader in readers { try reader.poll(timeout: .zero) }
        }
        for reader in readers { try reader.poll { $0.count(Self.events) == 200 } }
        #expect(readers[0].records == readers[1].records)
        #expect(readers[0].records == readers[2].records)
    }

    @Test(arguments: LogBackend.whole)
    func `follows many partitions of many topics`(backend: LogBackend) throws {
        let under = try backend.make(backend.many)
        let reader = try under.log.reader()
        var partitions: [TopicPartition] = []
        for topic in Topic.allCases {
            for number in 0..<topic.partitions(of: backend.many) { partitions.append(TopicPartition(topic, number)) }
        }
        // A log may keep its own name in `keys`: what is appended here comes after it.
        let keys = TopicPartition(.keys, 0)
        let start = [keys: try reader.consumer.bounds(of: keys).upperBound]
        for partition in partitions { reader.consumer.follow(partition, from: start[partition] ?? 0) }
        let appended = try under.anotherProcess().writer().append(
            (0..<3).flatMap { round in partitions.map { OutgoingRecord("\(round)", to: $0) } })
        for round in 0..<3 {
            for (index, partition) in partitions.enumerated() {
                #expect(appended[round * partitions.count + index].offset == (start[partition] ?? 0) + Int64(round))
            }
        }
        try reader.poll { $0.total == 3 * partitions.count }
        for (partition, records) in reader.records {
            let first = start[partition] ?? 0
            #expect(records.map(\.text) == ["0", "1", "2"] && records.map(\.offset) == Array(first..<first + 3))
        }
        try reader.poll { $0.ends.count { $1.last == 3 + (start[$0] ?? 0) } == partitions.count }
    }

    @Test(arguments: LogBackend.whole)
    func `takes large backlogs in pieces`(backend: LogBackend) throws {
        let under = try backend.make(2)
        let writer = try under.log.writer()
        let value = [UInt8](repeating: 9, count: 1 << 18)
        let big = (0..<24).map { OutgoingRecord(partition: Self.events, key: [UInt8($0)], headers: [], value: value) }
        try writer.append(big + (0..<2_500).map { OutgoingRecord("\($0)", to: Self.replies) })
        let reader = try under.log.reader()
        reader.consumer.follow(Self.events, from: 0)
        reader.consumer.follow(Self.replies, from: 0)
        try reader.poll { $0.count(Self.events) == 24 && $0.count(Self.replies) == 2_500 }
        #expect(reader.records[Self.events]?.map(\.key) == big.map(\.key))
        #expect(reader.records[Self.replies]?.map(\.offset) == Array(0..<2_500))
    }

    @Test(arguments: LogBackend.all)
    func `waits no longer than it is told, and a wake ends it`(backend: LogBackend) throws {
        let under = try backend.make(2)
        let consumer = try under.log.makeConsumer(client: "sleeper", group: nil)
        defer { consumer.close() }
        let clock = ContinuousClock()
        #expect(try clock.measure { _ = try consumer.poll(timeout: .milliseconds(30)) } < .seconds(10))
        // One that came before the wait is not lost.
        consumer.wake()
        #expect(try clock.measure { _ = try consumer.poll(timeout: .seconds(60)) } < .seconds(20))
        let thread = WorkerThread(name: "waker") { _ in consumer.wake() }
        thread.start()
        #expect(try clock.measure { _ = try consumer.poll(timeout: .seconds(60)) } < .seconds(20))
    }

    @Test(arguments: LogBackend.all)
    func `learns of new records without waiting for its time to be over`(backend: LogBackend) throws {
        let under = try backend.make(2)
        for log in [under.log, under.anotherProcess()] {
            let writer = try log.writer()
            let consumer = try under.log.makeConsumer(client: "waiting", group: nil)
            defer { consumer.close() }
            consumer.follow(Self.replies, from: try consumer.bounds(of: Self.replies).upperBound)
            var isFound = false
            let deadline = ContinuousClock.now + .seconds(50)
            while try consumer.poll(timeout: .seconds(60)).isEmpty, ContinuousClock.now < deadline {}
            writer.producer.append(OutgoingRecord("new", to: Self.replies)) { _ in }
            while !isFound, ContinuousClock.now < deadline {
                for case .records in try consumer.poll(timeout: .seconds(60)) { isFound = true }
            }
            #expect(isFound)
            #expect(ContinuousClock.now < deadline)
        }
    }

    @Test(arguments: LogBackend.all)
    func `from a closed consumer fails`(backend: LogBackend) throws {
        let under = try backend.make(1)
        let consumer = try under.log.makeConsumer(client: "closed", group: nil)
        consumer.close()
        let error = #expect(throws: LogError.self) { try consumer.poll(timeout: .zero) }
        #expect(error?.code == .closed)
        consumer.close()
    }
}
