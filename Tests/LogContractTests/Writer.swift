import EventLog
import EventSchema
import Runtime
import Synchronization

/// A producer whose appends are waited for.
final class Writer: Sendable {
    let producer: any LogProducer

    init(_ producer: any LogProducer) { self.producer = producer }

    deinit { producer.close() }

    /// Appends records together and gives what became of each.
    func results(of records: [OutgoingRecord], within limit: Duration = .seconds(30)) throws -> [Result<Appended, LogError>] {
        let completions = Mailbox<(Int, Result<Appended, LogError>)>()
        for (index, record) in records.enumerated() { producer.append(record) { completions.send((index, $0)) } }
        var results: [Int: Result<Appended, LogError>] = [:]
        let deadline = ContinuousClock.now + limit
        while results.count < records.count {
            guard ContinuousClock.now < deadline else { throw Reader.Timeout() }
            for (index, result) in completions.receive(within: .seconds(1)) { results[index] = result }
        }
        return records.indices.compactMap { results[$0] }
    }

    @discardableResult
    func append(_ records: [OutgoingRecord]) throws -> [Appended] { try results(of: records).map { try $0.get() } }

    @discardableResult
    func append(_ text: String, to partition: TopicPartition) throws -> Appended {
        try append([OutgoingRecord(text, to: partition)])[0]
    }
}

extension OutgoingRecord {
    init(_ text: String, to partition: TopicPartition) {
        self.init(partition: partition, key: [1, 2, 3, 4, 5, 6], headers: [Header("ce_id", text)], value: Array(text.utf8))
    }
}

extension Record {
    var text: String { String(decoding: value, as: UTF8.self) }
}

extension EventLog {
    func writer(_ client: String = "writer") throws -> Writer { Writer(try makeProducer(client: client)) }
}
