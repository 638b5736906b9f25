public import EventLog
public import EventSchema

/// Reads the topic `keys` from its beginning into a directory. Whoever polls the consumer hands its events over; those of
/// other partitions are left alone. Used from one thread.
///
/// The topic is kept for ever. When the log was interrupted, the last record is read again: if it is not the same any more,
/// the log has lost data.
public struct KeyFollower: Sendable {
    /// The record read last.
    private struct Head {
        var offset: Int64
        var hash: [UInt8]
    }

    public let directory: KeyDirectory
    private var head: Head?
    private var next: Int64 = 0
    private var isRecognising = false
    /// Whether everything that was in the topic at some time after the start has been read: from then on what is absent from
    /// the directory was not published.
    public private(set) var hasReachedEnd = false
    /// Records that counted for nothing, by reason.
    public private(set) var void: [KeyDirectory.Void: Int] = [:]
    /// Questions that came since the topic was first read to its end, and were not taken yet.
    private var questions: [MACKeyQuestion] = []
    /// MAC keys that were introduced since this was looked at last.
    private var introduced: [UInt32] = []

    public init(directory: KeyDirectory) { self.directory = directory }

    /// Starts delivery; also to be called for a new consumer, after the one before it broke.
    public mutating func follow(on consumer: any LogConsumer) {
        isRecognising = head != nil
        consumer.follow(KeyRecord.partition, from: head?.offset ?? 0)
    }

    /// Takes what a poll returned, and returns the keys that are new by it.
    ///
    /// - Throws: `.truncated` when the log has lost data, `.unreadable` when a newer release wrote what this one does not
    ///   understand. Either ends the service.
    public mutating func apply(
        _ events: [LogEvent], from consumer: any LogConsumer
    ) throws(LogError) -> [SealingKeyPublished] {
        var learned: [SealingKeyPublished] = []
        for event in events {
            switch event {
            case .records(KeyRecord.partition, let records):
                for record in records {
                    if let key = try read(record) { learned.append(key) }
                }
            case .reachedEnd(KeyRecord.partition, let end):
                guard !isRecognising, end >= next else { throw truncated }
                hasReachedEnd = true
                directory.markRead()
            case .outOfRange(KeyRecord.partition, _, _): throw truncated
            case .interrupted(KeyRecord.partition):
                follow(on: consumer)
                // What comes after it in this poll will come again.
                return learned
            case .records, .reachedEnd, .outOfRange, .interrupted, .assigned, .revoked: break
            }
        }
        return learned
    }

    mutating func takeQuestions() -> [MACKeyQuestion] {
        defer { questions.removeAll() }
        return questions
    }

    mutating func takeIntroduced() -> [UInt32] {
        defer { introduced.removeAll() }
        return introduced
    }

    private mutating func read(_ record: Record) throws(LogError) -> SealingKeyPublished? {
        if isRecognising, let head {
            guard record.offset == head.offset, record.hash == head.hash else { throw truncated }
            isRecognising = false
            return nil
        }
        guard record.offset >= next else { return nil }
        let outcome = try directory.apply(record)
        head = Head(offset: record.offset, hash: record.hash)
        next = record.offset + 1
        switch outcome {
        case .learned(let key): return key
        case .introduced(let key):
            introduced.append(key)
            return nil
        case .asked(let question):
            // Who asked before that waits no more.
            if hasReachedEnd { questions.append(question) }
            return nil
        case .known, .retired: return nil
        case .void(let reason):
            void[reason, default: 0] += 1
            return nil
        }
    }

    private var truncated: LogError {
        LogError(.truncated, "\(KeyRecord.partition) is not what was read before up to offset \(next): the log has lost data")
    }
}
