import EventLog
import EventSchema
import Runtime
import Synchronization
import Testing

@Suite struct `Appending` {
    static let events = TopicPartition(.verificationEvents, 1)
    static let commands = TopicPartition(.verificationCommands, 1)

    @Test(arguments: LogBackend.whole)
    func `gives offsets without gaps, in the order of the calls`(backend: LogBackend) throws {
        let under = try backend.make(3)
        let writer = try under.log.writer()
        for partition in [Self.events, Self.commands] {
            let appended = try writer.append((0..<500).map { OutgoingRecord("\($0)", to: partition) })
            #expect(appended.map(\.offset) == Array(0..<500))
            let records = try under.log.reader().read(partition)
            #expect(records.map(\.offset) == Array(0..<500))
            #expect(records.map(\.text) == (0..<500).map(String.init))
            #expect(records.map(\.time) == appended.map(\.time))
        }
    }

    @Test(arguments: LogBackend.whole)
    func `by many at once loses nothing, doubles nothing, and keeps each one's order`(backend: LogBackend) throws {
        let under = try backend.make(4)
        let perWriter = 400
        let completions = Mailbox<(writer: Int, number: Int, result: Result<Appended, LogError>)>()
        let writers = try (0..<4).map { _ in try under.anotherProcess().writer() }
        let topics: [Topic] = [.verificationEvents, .verificationCommands, .replies]
        @Sendable func partition(_ number: Int) -> TopicPartition { TopicPartition(topics[number % 3], number % 4) }

        let threads = writers.enumerated().map { index, writer in
            let thread = WorkerThread(name: "writer") { _ in
                for number in 0..<perWriter {
                    writer.producer.append(OutgoingRecord("\(index) \(number)", to: partition(number))) {
                        completions.send((index, number, $0))
                    }
                }
            }
            thread.start()
            return thread
        }
        var outcomes: [String: [Appended]] = [:]
        let deadline = ContinuousClock.now + .seconds(60)
        while outcomes.count < 4 * perWriter, ContinuousClock.now < deadline {
            for (writer, number, result) in completions.receive(within: .seconds(1)) {
                outcomes["\(writer) \(number)", default: []].append(try result.get())
            }
        }
        for writer in writers { #expect(writer.producer.flush(within: .seconds(10))) }
        withExtendedLifetime(threads) {}
        for (writer, number, result) in completions.receive(within: .zero) {
            outcomes["\(writer) \(number)", default: []].append(try result.get())
        }
        #expect(outcomes.count == 4 * perWriter)
        #expect(outcomes.values.allSatisfy { $0.count == 1 }, "each completion is called once")

        let reader = try under.log.reader()
        var read = 0
        for topic in topics {
            for number in 0..<4 {
                let partition = TopicPartition(topic, number)
                let records = try reader.read(partition)
                read += records.count
                #expect(records.map(\.offset) == Array(0..<Int64(records.count)))
                var last = [Int](repeating: -1, count: 4)
                for record in records {
                    let parts = record.text.split(separator: " ").compactMap { Int($0) }
                    #expect(parts[1] > last[parts[0]], "the order of one writer is kept")
                    last[parts[0]] = parts[1]
                    #expect(outcomes[record.text]?.first == Appended(offset: record.offset, time: record.time))
                }
            }
        }
        #expect(read == 4 * perWriter)
    }

    @Test(arguments: LogBackend.all)
    func `keeps every byte`(backend: LogBackend) throws {
        let under = try backend.make(2)
        let all = (0...255).map { UInt8($0) }
        let records = [
            OutgoingRecord(partition: Self.events, key: [], headers: [], value: []),
            OutgoingRecord(partition: Self.events, key: all, headers: [Header("", []), Header("", all)], value: all),
            OutgoingRecord(
                partition: Self.events, key: [0],
                headers: [
                    Header("ce_type", "latchkey.verification.code-issued.v1"), Header("content-type", "application/json"),
                    Header("ce_type", "again"), Header("x-grün 🌱", [0, 255]), Header("ce_mac", []),
                    Header("long", [UInt8](repeating: 7, count: 20_000)),
                ], value: Array("{}".utf8)),
            OutgoingRecord(
                partition: Self.events, key: [1], headers: [Header("ce_id", "big")],
                value: (0..<1_048_576).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ $0 >> 8) }),
            OutgoingRecord(
                partition: Self.events, key: [1], headers: [], value: [UInt8](repeating: 0, count: 100_000)),
        ]
        try under.log.writer().append(records)
        let read = try under.log.reader().read(Self.events)
        #expect(read.map(\.key) == records.map(\.key))
        #expect(read.map(\.headers) == records.map(\.headers))
        #expect(read.map(\.value) == records.map(\.value))
    }

    @Test(arguments: LogBackend.all)
    func `rejects what can never fit, and appends what comes with it`(backend: LogBackend) throws {
        let under = try backend.make(2)
        let writer = try under.log.writer()
        let results = try writer.results(of: [
            OutgoingRecord("before", to: Self.events),
            OutgoingRecord(
                partition: Self.events, key: [], headers: [], value: [UInt8](repeating: 1, count: (1 << 20) + (1 << 18))),
            OutgoingRecord("nowhere", to: TopicPartition(.verificationEvents, 2)),
            OutgoingRecord("after", to: Self.events),
        ])
        #expect(try results[0].get().offset == 0)
        #expect(throws: LogError.self) { try results[1].get() }
        #expect(throws: LogError.self) { try results[2].get() }
        for result in results[1...2] { if case .failure(let error) = result { #expect(error.code == .rejected) } }
        #expect(try results[3].get().offset == 1)
        #expect(try under.log.reader().read(Self.events).map(\.text) == ["before", "after"])
    }

    @Test(arguments: LogBackend.whole)
    func `stamps times that never run back`(backend: LogBackend) throws {
        let under = try backend.make(2)
        let writers = [try under.log.writer(), try under.anotherProcess().writer()]
        for round in 0..<40 { try writers[round % 2].append((0..<5).map { OutgoingRecord("\($0)", to: Self.commands) }) }
        let times = try under.log.reader().read(Self.commands).map(\.time)
        #expect(times.count == 200)
        #expect(times == times.sorted())
        #expect(try #require(times.first).milliseconds > 1_500_000_000_000)
    }

    @Test(arguments: LogBackend.all)
    func `is flushed when every record is completed`(backend: LogBackend) throws {
        let under = try backend.make(2)
        let writer = try under.log.writer()
        let completed = Atomic(0)
        for number in 0..<300 {
            let partition = number % 2 == 0 ? Self.events : Self.commands
            writer.producer.append(OutgoingRecord("\(number)", to: partition)) { _ in
                completed.add(1, ordering: .sequentiallyConsistent)
            }
        }
        #expect(writer.producer.flush(within: .seconds(30)))
        #expect(completed.load(ordering: .sequentiallyConsistent) == 300)
    }

    @Test(arguments: LogBackend.all)
    func `to a closed producer fails`(backend: LogBackend) throws {
        let under = try backend.make(1)
        let writer = try under.log.writer()
        writer.producer.close()
        let result = try writer.results(of: [OutgoingRecord("late", to: TopicPartition(.replies, 0))])[0]
        #expect(throws: LogError.self) { try result.get() }
        if case .failure(let error) = result { #expect(error.code == .closed) }
    }

    @Test(arguments: LogBackend.all)
    func `goes on for others when one producer of a process is closed`(backend: LogBackend) throws {
        let under = try backend.make(1)
        let first = try under.log.writer("first")
        let second = try under.log.writer("second")
        try first.append("one", to: TopicPartition(.replies, 0))
        let completions = Mailbox<Result<Appended, LogError>>()
        for _ in 0..<200 {
            first.producer.append(OutgoingRecord("late", to: TopicPartition(.replies, 0))) { completions.send($0) }
        }
        first.producer.close()
        var results: [Result<Appended, LogError>] = []
        while results.count < 200 { results += completions.receive(within: nil) }
        try second.append("two", to: TopicPartition(.replies, 0))
        let records = try under.log.reader().read(TopicPartition(.replies, 0))
        #expect(records.first?.text == "one")
        #expect(records.last?.text == "two")
        let appended = results.count { if case .success = $0 { true } else { false } }
        #expect(records.count == 2 + appended)
        for case .failure(let error) in results { #expect(error.code == .closed) }
    }
}
