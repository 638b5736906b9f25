import Crypto
import EventSchema
import Testing

@testable import EventLog

/// A log of one partition in memory and the loops that read it, moved by hand: nothing happens that a test did not ask for.
struct Scene {
    static let logID: [UInt8] = Array("a log".utf8)
    static let commands = TopicPartition(.verificationCommands, 0)
    static let events = TopicPartition(.verificationEvents, 0)
    static let authenticator = try! RecordAuthenticator(
        keys: Dictionary(uniqueKeysWithValues: (UInt32(1)...3).map { ($0, Secret([UInt8](repeating: 6 + UInt8($0), count: 32))) })
    )
    static let noon = Timestamp(milliseconds: 1_800_000_000_000)

    var records: [TopicPartition: [Record]] = [:]
    /// The log's clock.
    var now = noon
    /// How far it was set back while the steady clocks went on.
    var setBack = Interval.zero
    var replies: [String] = []
    /// Whether probes are acknowledged at once, and not sent with the rest.
    var acknowledgesProbes = true

    /// An owner, with what it asked for and was not given yet.
    struct Owner {
        var loop: DecisionLoop<Ledger>
        var next: [TopicPartition: Int64] = [:]
        var unsent: [(record: OutgoingRecord, token: AppendToken?)] = []
        var happened: [Int64] = []
        var loads: [LoadRequest<String>] = []
        var projections: [ProjectionBatch<Ledger.Deposit>] = []
    }

    func owner(
        _ name: String, domain: Ledger = Ledger(), start: ChainPosition? = nil, window: Int = 256,
        storage: LoopSettings.Storage = .memory(window: .hours(1)), checkpoint: Checkpoint? = nil,
        inboxes: [Topic] = [.verificationCommands],
        longestQueue: Int = 4_096, authenticator: RecordAuthenticator = Self.authenticator.afresh()
    ) -> Owner {
        var settings = LoopSettings(service: .verification, storage: storage, inboxes: inboxes, events: .verificationEvents)
        settings.window = window
        settings.longestQueue = longestQueue
        let loop = DecisionLoop(
            domain, settings: settings, partition: 0, log: Self.logID, authenticator: authenticator, writer: name,
            start: start, checkpoint: checkpoint, random: SystemRandomNumberGenerator())
        return Owner(loop: loop, next: [Self.events: loop.start])
    }

    var local: LocalInstant { LocalInstant(milliseconds: now.milliseconds - 1_000_000) + setBack }

    func end(of partition: TopicPartition) -> Int64 { Int64(records[partition]?.count ?? 0) }

    @discardableResult
    mutating func append(_ record: OutgoingRecord) -> Appended {
        let offset = end(of: record.partition)
        records[record.partition, default: []].append(
            Record(
                partition: record.partition, offset: offset, time: now, key: record.key, headers: record.headers,
                value: record.value))
        return Appended(offset: offset, time: now)
    }

    @discardableResult
    mutating func command(
        _ account: String, _ amount: Int64, id: MessageID = .random(), budget: Int64 = 10_000, remember: Int64 = 0,
        request: UInt8 = 1, macKey: UInt32 = 1
    ) -> OutgoingRecord {
        let address = ReplyAddress(
            partition: 0, process: [UInt8](repeating: 2, count: 16), publicKey: [UInt8](repeating: 3, count: 32),
            request: [UInt8](repeating: request, count: 16))
        let record = Self.authenticator.sealed(
            OutgoingRecord(
                partition: Self.commands, key: [1],
                headers: [
                    Header(HeaderName.id, id.text), Header(HeaderName.type, "latchkey.test.deposit.v1"),
                    Header(HeaderName.budget, String(budget)), Header(HeaderName.replyTo, address.encoded),
                    Header(HeaderName.remember, String(remember)),
                ],
                value: Ledger.data(Ledger.Deposit(account: account, amount: amount))), under: macKey)
        append(record)
        return record
    }

    mutating func give(_ input: LoopInput<Ledger>, to owner: inout Owner) throws {
        var actions: [LoopAction<Ledger>] = []
        try owner.loop.handle(input, at: local, actions: &actions)
        for action in actions {
            switch action {
            case .append(let record, let token):
                if token.sequence == 0 && acknowledgesProbes {
                    let appended = append(record)
                    advance(.milliseconds(1))
                    try give(.appended(token, appended), to: &owner)
                } else {
                    owner.unsent.append((record, token))
                }
            case .reply(let record): replies.append(String(decoding: record.value, as: UTF8.self))
            case .follow(let partition, let offset): owner.next[partition] = offset
            case .unfollow(let partition): owner.next[partition] = nil
            case .load(let request): owner.loads.append(request)
            case .project(let batch): owner.projections.append(batch)
            case .happened(let event): owner.happened.append(event.envelope.sequence)
            case .wake: break
            }
        }
    }

    mutating func takeOver(_ owner: inout Owner, committed: CommittedOffset? = nil) throws {
        try give(.tookOver(end: end(of: Self.events), committed: committed), to: &owner)
        try deliver(to: &owner)
    }

    /// Gives the owner every record that it follows and has not seen.
    mutating func deliver(to owner: inout Owner) throws {
        var isMoving = true
        while isMoving {
            isMoving = false
            for partition in owner.next.keys.sorted() {
                while let next = owner.next[partition], next < end(of: partition), let record = records[partition]?[Int(next)] {
                    owner.next[partition] = next + 1
                    try give(.record(record), to: &owner)
                    isMoving = true
                }
                try give(.reachedEnd(partition, end: end(of: partition)), to: &owner)
            }
        }
    }

    /// Appends what the owner has asked for; nobody reads it yet.
    mutating func send(from owner: inout Owner) throws {
        let unsent = owner.unsent
        owner.unsent.removeAll()
        for (record, token) in unsent {
            let appended = append(record)
            if let token { try give(.appended(token, appended), to: &owner) }
        }
    }

    mutating func settle(_ owner: inout Owner) throws {
        try deliver(to: &owner)
        while !owner.unsent.isEmpty {
            try send(from: &owner)
            try deliver(to: &owner)
        }
    }

    /// The valid events, as a reader sees them who starts at the beginning.
    func valid() throws -> [EventEnvelope] {
        var reader = ChainReader(Self.events, at: nil, log: Self.logID, authenticator: Self.authenticator.afresh())
        var valid: [EventEnvelope] = []
        for record in records[Self.events] ?? [] {
            if case .valid(let envelope) = try reader.read(record) { valid.append(envelope) }
        }
        return valid
    }

    mutating func advance(_ interval: Interval) { now = now + interval }
}
