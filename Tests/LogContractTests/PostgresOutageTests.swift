import EventLog
import EventLogPostgres
import EventSchema
import Runtime
import Synchronization
import TestSupport
import Testing

/// What only a server of one's own can be made to suffer.
@Suite(.serialized) struct `The log of a server that goes away` {
    static let events = TopicPartition(.verificationEvents, 0)
    static let commands = TopicPartition(.verificationCommands, 0)

    let server: TestServer
    let configuration: PostgresLog.Configuration

    init() throws {
        server = try TestServer()
        var configuration = PostgresLog.Configuration(server.connectionString)
        configuration.heartbeatInterval = .milliseconds(100)
        configuration.patience = .milliseconds(500)
        configuration.memberLifetime = .seconds(30)
        self.configuration = configuration
        try PostgresLog.provision(configuration, partitions: 12)
    }

    @Test func `keeps what it acknowledged, and goes on by itself`() throws {
        defer { server.stop() }
        let log = PostgresLog(configuration)
        let writer = try log.writer()
        let reader = try log.reader()
        reader.consumer.follow(Self.events, from: 0)
        reader.consumer.follow(Self.commands, from: 0)
        try writer.append("first", to: Self.events)
        try reader.poll { $0.count(Self.events) == 1 }
        #expect(reader.consumer.isAvailable)

        // Events are appended as fast as they are acknowledged, until the server dies under them.
        let acknowledged = Mutex<[Int64: String]>([:])
        let failures = Mailbox<LogError>()
        let isStopping = Atomic(false)
        let thread = WorkerThread(name: "writer") { _ in
            var number = 0
            while !isStopping.load(ordering: .relaxed) {
                let done = Mailbox<Void>()
                for _ in 0..<20 {
                    number += 1
                    let text = "event \(number)"
                    writer.producer.append(OutgoingRecord(text, to: Self.events)) { result in
                        switch result {
                        case .success(let appended): acknowledged.withLock { $0[appended.offset] = text }
                        case .failure(let error): failures.send(error)
                        }
                        done.send(())
                    }
                }
                var left = 20
                while left > 0 { left -= done.receive(within: .seconds(20)).count }
            }
        }
        thread.start()
        try reader.poll { _ in acknowledged.withLock { $0.count } >= 500 }
        server.kill()
        #expect(failures.receive(within: .seconds(20)).first?.code == .unavailable)
        try reader.poll { !$0.consumer.isAvailable }

        // Known to be away: no append waits.
        let clock = ContinuousClock()
        let waited = try clock.measure {
            for _ in 0..<5 {
                let result = try writer.results(of: [OutgoingRecord("lost", to: Self.commands)])[0]
                if case .failure(let error) = result {
                    #expect(error.code == .unavailable)
                } else {
                    Issue.record("appended to nothing")
                }
            }
        }
        #expect(waited < .seconds(5))
        #expect(throws: LogError.self) { try reader.consumer.bounds(of: Self.events) }
        isStopping.store(true, ordering: .relaxed)

        try server.start()
        try reader.poll { $0.consumer.isAvailable && !$0.interrupted.isEmpty }
        #expect(Set(reader.interrupted) == [Self.events, Self.commands])
        var result = try writer.results(of: [OutgoingRecord("back", to: Self.events)])[0]
        while case .failure(let error) = result {
            #expect(error.code == .unavailable)
            result = try writer.results(of: [OutgoingRecord("back", to: Self.events)])[0]
        }
        try reader.poll { $0.records[Self.events]?.last?.text == "back" }

        let records = reader.records[Self.events] ?? []
        #expect(records.map(\.offset) == Array(0..<Int64(records.count)))
        let texts = Dictionary(uniqueKeysWithValues: records.map { ($0.offset, $0.text) })
        let kept = acknowledged.withLock { $0 }
        #expect(kept.count >= 500)
        #expect(kept.allSatisfy { texts[$0.key] == $0.value })
        #expect(try log.reader().read(Self.events) == records)
        withExtendedLifetime(thread) {}
    }

    @Test func `gives up on a server that hangs, and goes on when it does`() throws {
        defer { server.stop() }
        let log = PostgresLog(configuration)
        let writer = try log.writer()
        let reader = try log.reader()
        reader.consumer.follow(Self.events, from: 0)
        try writer.append("before", to: Self.events)
        try reader.poll { $0.count(Self.events) == 1 }

        server.freeze()
        let result = try writer.results(of: [OutgoingRecord("hung", to: Self.events)])[0]
        if case .failure(let error) = result {
            #expect(error.code == .unavailable)
        } else {
            Issue.record("appended to a frozen server")
        }
        try reader.poll { !$0.consumer.isAvailable }
        server.thaw()
        try reader.poll { $0.consumer.isAvailable && $0.interrupted == [Self.events] }
        var last = try writer.results(of: [OutgoingRecord("after", to: Self.events)])[0]
        while case .failure = last { last = try writer.results(of: [OutgoingRecord("after", to: Self.events)])[0] }
        try reader.poll { $0.records[Self.events]?.last?.text == "after" }
        // The outcome of the append that was given up is unknown, but it happened at most once.
        #expect((reader.records[Self.events] ?? []).map(\.text).filter { $0 == "hung" }.count <= 1)
    }

    @Test func `does not give one member everything when it comes back`() throws {
        defer { server.stop() }
        let group = ConsumerGroup(name: "group", topic: .verificationCommands)
        let members = try (0..<3).map { try PostgresLog(configuration).reader("member \($0)", group: group) }
        let isShared = { members.allSatisfy { $0.owned.count == 4 } }
        while !isShared() { for member in members { try member.poll(timeout: .milliseconds(10)) } }
        server.kill()
        for member in members { try member.poll { !$0.consumer.isAvailable } }
        try server.start()
        // The one that comes first is for a while the only one that was heard of since.
        let heard = members[0].assignments
        try members[0].poll { $0.consumer.isAvailable }
        for _ in 0..<5 { try members[0].poll() }
        #expect(members[0].owned.count == 4)
        #expect(members[0].assignments == heard)
        for member in members { try member.poll { $0.consumer.isAvailable } }
        #expect(isShared())
    }

    @Test func `is not there, and then it is`() throws {
        let log = PostgresLog(configuration)
        server.kill()
        let error = #expect(throws: LogError.self) { try log.describe() }
        #expect(error?.code == .unavailable)
        #expect(throws: LogError.self) { _ = try log.makeProducer(client: "x") }
        try server.start()
        defer { server.stop() }
        #expect(try log.describe().partitions == 12)
    }
}
