import EventLog
import EventLogKafka
import EventSchema
import Foundation
import Runtime
import Synchronization
import Testing

/// Bootstrap servers of three brokers, the command that kills and revives them (`kill FOLDER N`, `revive FOLDER N`), and the
/// folder that it knows them by.
private let servers = ProcessInfo.processInfo.environment["LATCHKEY_TEST_KAFKA"]
private let command = ProcessInfo.processInfo.environment["LATCHKEY_TEST_KAFKA_COMMAND"]
private let folder = ProcessInfo.processInfo.environment["LATCHKEY_TEST_KAFKA_FOLDER"]

@Suite(
    .enabled(
        if: servers != nil && command != nil && folder != nil, "no brokers to kill: LATCHKEY_TEST_KAFKA_COMMAND names no command"),
    .serialized)
struct `A log on three brokers` {
    private struct CommandFailed: Error { var verb: String }

    /// By the shell: Foundation's `Process` waits for the broker, too, that the command leaves behind.
    private static func brokers(_ verb: String, _ number: Int) throws {
        guard system("'\(command ?? "")' \(verb) '\(folder ?? "")' \(number) > /dev/null") == 0 else {
            throw CommandFailed(verb: verb)
        }
    }

    /// Appends numbered records, a few at a time, until it is told to stop.
    private final class Load: Sendable {
        struct State {
            var appended: [String: (partition: TopicPartition, offset: Int64)] = [:]
            var isOver = false
        }

        private static let window = 20
        let state = Mutex(State())
        private let room = DispatchSemaphore(value: window)
        var appended: Int { state.withLock { $0.appended.count } }

        func run(_ producer: any LogProducer, partitions: Int) {
            var number = 0
            while !state.withLock({ $0.isOver }) {
                room.wait()
                let (text, partition) = (String(number), TopicPartition(.verificationEvents, number % partitions))
                number += 1
                producer.append(OutgoingRecord(partition: partition, key: [1], headers: [], value: Array(text.utf8))) { result in
                    self.state.withLock { state in
                        if case .success(let place) = result { state.appended[text] = (partition, place.offset) }
                    }
                    self.room.signal()
                }
            }
        }

        /// Returns when everything has been acknowledged or has failed.
        func end() {
            state.withLock { $0.isOver = true }
            for _ in 0..<Self.window { room.wait() }
            for _ in 0..<Self.window { room.signal() }
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `loses nothing that it acknowledged when one is killed and revived under load`() throws {
        let log = KafkaLog(KafkaSettings(bootstrapServers: servers ?? "", prefix: "brokers-\(UInt64.random(in: 0..<(1 << 60)))."))
        try log.provision(partitions: 6)
        let producer = try log.makeProducer(client: "load")
        let consumer = try log.makeConsumer(client: "reader", group: nil)
        defer { consumer.close() }
        let partitions = (0..<6).map { TopicPartition(.verificationEvents, $0) }
        for partition in partitions { consumer.follow(partition, from: 0) }
        var read: [TopicPartition: [Record]] = [:]
        var interruptions = 0
        let load = Load()
        func poll(until isDone: () -> Bool) throws {
            while !isDone() {
                for event in try consumer.poll(timeout: .milliseconds(100)) {
                    switch event {
                    case .records(let partition, let records): read[partition, default: []] += records
                    case .interrupted(let partition):
                        interruptions += 1
                        consumer.follow(partition, from: Int64(read[partition, default: []].count))
                    default: break
                    }
                }
            }
        }

        let thread = WorkerThread(name: "load") { _ in load.run(producer, partitions: 6) }
        thread.start()
        try poll { load.appended > 300 }
        try Self.brokers("kill", 2)
        // All partitions go on without it: everything since then has been appended by the two that are left.
        let afterKill = partitions.map { read[$0, default: []].count }
        try poll { zip(partitions, afterKill).allSatisfy { read[$0, default: []].count > $1 + 50 } }
        try Self.brokers("revive", 2)
        let afterRevival = load.appended
        try poll { load.appended > afterRevival + 600 }
        load.end()
        producer.close()

        let ends = try partitions.map { try consumer.bounds(of: $0).upperBound }
        try poll { zip(partitions, ends).allSatisfy { Int64(read[$0, default: []].count) >= $1 } }
        #expect(interruptions > 0, "the change of leaders was told")
        for partition in partitions {
            #expect(read[partition]?.map(\.offset) == Array(0..<Int64(read[partition]?.count ?? 0)), "in order and without gaps")
        }
        let texts = read.values.joined().map { String(decoding: $0.value, as: UTF8.self) }
        #expect(Set(texts).count == texts.count, "nothing stands twice")
        let lost = load.state.withLock { state in
            state.appended.filter { text, place in
                read[place.partition]?[Int(place.offset)].value != Array(text.utf8)
            }
        }
        #expect(lost.isEmpty)
        withExtendedLifetime(thread) {}
    }
}
