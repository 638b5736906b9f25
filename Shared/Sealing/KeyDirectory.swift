public import Crypto
public import EventLog
public import EventSchema
internal import Synchronization

/// The public sealing keys of all services, as the topic `keys` tells them, which MAC keys it has introduced, and which keys
/// sign tokens no more. Shared by any number of threads.
public final class KeyDirectory: Sendable {
    /// What a record was.
    public enum Outcome: Equatable, Sendable {
        /// It tells something new.
        case learned(SealingKeyPublished)
        /// From now on this MAC key is written under.
        case introduced(UInt32)
        /// This key signs tokens no more.
        case retired(SigningKeyRetired)
        /// Somebody wants to know whether this MAC key is held here.
        case asked(MACKeyQuestion)
        /// It repeats what is known.
        case known
        /// It counts for nothing, for one of these reasons.
        case void(Void)
    }

    public enum Void: String, Sendable, CaseIterable {
        /// Without a MAC, or with one that does not verify.
        case forged
        /// Under a MAC key that is not held here.
        case unknownMACKey
        /// Under a MAC key in whose place another one has come long ago.
        case retiredMACKey
        /// A service spoke for another one.
        case foreign
        /// An id of one key given to another, or what no service writes.
        case contradictory
        /// What nobody can answer.
        case malformed
    }

    private struct Entry {
        var key: SealingKeyPublished
        /// Where it was published last: of two keys that begin at the same time the later one counts.
        var offset: Int64
    }

    private let authenticator: RecordAuthenticator
    private let entries = Mutex<[ServiceName: [String: Entry]]>([:])
    private let macKeys = Mutex(MACKeyHistory())
    private let retired = Mutex<[String: SigningKeyRetired]>([:])
    private let isRead = Atomic(false)

    public init(authenticator: RecordAuthenticator) { self.authenticator = authenticator }

    /// Takes the next record of the topic. Records that anybody could have written change nothing.
    ///
    /// - Throws: `.unreadable` for an authentic record that this release does not understand: a newer one wrote it, and what
    ///   it says must not be missed.
    @discardableResult
    public func apply(_ record: Record) throws(LogError) -> Outcome {
        guard record.partition == KeyRecord.partition else { return .void(.foreign) }
        let macKey: UInt32
        switch authenticator.verify(record) {
        case .authentic(let key): macKey = key
        case .forged: return .void(.forged)
        case .unknownKey: return .void(.unknownMACKey)
        }
        guard authenticator.accepts(record) else { return .void(.retiredMACKey) }
        let type = record.header(HeaderName.type).map { String(decoding: $0, as: UTF8.self) } ?? ""
        switch type {
        case LogRecordType.macKeyIntroduced: return try introduce(record, under: macKey)
        case LogRecordType.skipped:
            guard let skipped = SkippedEvent(announcedIn: record) else { return .void(.malformed) }
            authenticator.skip(skipped)
            return .known
        case LogRecordType.macKeyAsked: return MACKeyQuestion(record).map { .asked($0) } ?? .void(.malformed)
        case SigningKeyRetired.type.name: return try retire(record, type: type)
        default: return try learn(record, type: type)
        }
    }

    /// The newest MAC key that was introduced.
    public var newestMACKey: UInt32 { macKeys.withLock { $0.newest } }

    private func introduce(_ record: Record, under key: UInt32) throws(LogError) -> Outcome {
        let outcome = try macKeys.withLock { macKeys throws(LogError) in
            try macKeys.read(record, under: key, by: authenticator)
        }
        switch outcome {
        case .introduced(let key): return .introduced(key)
        case .known: return .known
        case .contradictory: return .void(.contradictory)
        }
    }

    private func learn(_ record: Record, type: String) throws(LogError) -> Outcome {
        let key: SealingKeyPublished = try decode(record, type: type)
        guard record.header(HeaderName.source) == Array(KeyRecord.source(of: key.service).utf8) else { return .void(.foreign) }
        guard RecipientKey.isWellFormed(id: key.key), key.notBefore < key.notAfter else { return .void(.contradictory) }
        return entries.withLock { entries in
            // What nobody may use any more by the log's own clock need not be remembered: the topic is kept for ever.
            entries[key.service] = entries[key.service]?.filter { $0.value.key.notAfter > record.time }
            return Self.enter(Entry(key: key, offset: record.offset), into: &entries[key.service, default: [:]])
        }
    }

    private func retire(_ record: Record, type: String) throws(LogError) -> Outcome {
        let told: SigningKeyRetired = try decode(record, type: type)
        guard record.header(HeaderName.source) == Array(KeyRecord.source(of: .identity).utf8) else { return .void(.foreign) }
        return retired.withLock { retired in
            if let known = retired[told.key], known.isRevoked || !told.isRevoked { return .known }
            retired[told.key] = told
            return .retired(told)
        }
    }

    private func decode<M: Message>(_ record: Record, type: String) throws(LogError) -> M {
        do throws(SchemaError) {
            return try SchemaCodec.current.decode(M.self, type: type, data: record.value)
        } catch {
            throw LogError(.unreadable, "\(record.partition), offset \(record.offset): this release cannot read it: \(error)")
        }
    }

    /// The keys that sign tokens no more, by id; `nil` before the topic was read to its end.
    public var retiredSigningKeys: [String: SigningKeyRetired]? {
        isRead.load(ordering: .acquiring) ? retired.withLock { $0 } : nil
    }

    /// Everything that was in the topic at some time after the start has been read.
    func markRead() { isRead.store(true, ordering: .releasing) }

    private static func enter(_ entry: Entry, into entries: inout [String: Entry]) -> Outcome {
        let before = entries[entry.key.key]
        if let before {
            // A record may be read again, after the log was interrupted.
            guard entry.offset > before.offset else { return .known }
            guard entry.key.publicKey == before.key.publicKey else { return .void(.contradictory) }
        }
        entries[entry.key.key] = entry
        return before?.key == entry.key ? .known : .learned(entry.key)
    }

    /// Whom to seal to: of the keys that may be used at this time the one that may be used for the shortest time so far; where
    /// there is none, because the log's clock was set back, the one that begins next. `nil` if the service has none.
    public func recipient(_ service: ServiceName, at time: Timestamp) -> RecipientKey? {
        newest(service, at: time).map { RecipientKey(id: $0.key, publicKey: $0.publicKey) }
    }

    /// The same, with its times.
    public func newest(_ service: ServiceName, at time: Timestamp) -> SealingKeyPublished? {
        entries.withLock { entries in
            let usable = entries[service]?.values.filter { time < $0.key.notAfter } ?? []
            let begun = usable.filter { $0.key.notBefore <= time }
            let entry =
                begun.max { ($0.key.notBefore, $0.offset) < ($1.key.notBefore, $1.offset) }
                ?? usable.min { ($0.key.notBefore, -$0.offset) < ($1.key.notBefore, -$1.offset) }
            return entry?.key
        }
    }

    /// Whether exactly this was published.
    public func contains(_ key: SealingKeyPublished) -> Bool {
        entries.withLock { $0[key.service]?[key.key]?.key == key }
    }

    /// Every key of a service that is or will be usable, oldest first.
    public func keys(of service: ServiceName, after time: Timestamp) -> [SealingKeyPublished] {
        entries.withLock { $0[service]?.values.map(\.key) ?? [] }
            .filter { time < $0.notAfter }
            .sorted { ($0.notBefore, $0.key) < ($1.notBefore, $1.key) }
    }

    /// Those of the services that nothing can be sealed to at this time, in a fixed order.
    public func missing(of services: Set<ServiceName>, at time: Timestamp) -> [ServiceName] {
        ServiceName.allCases.filter { services.contains($0) && recipient($0, at: time) == nil }
    }
}
