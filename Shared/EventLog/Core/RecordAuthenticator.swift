public import Crypto
internal import EventSchema

/// Authenticates records with HMAC-SHA256 under the log's keys, which all services hold: it keeps out who can write to the
/// broker and nothing else.
///
/// Keys are numbered from 1 and introduced in that order: to everybody by the topic `keys`, then in each chain by an event. A
/// record of a chain is written under the newest one that this chain has introduced, all else under the newest one that this
/// process has read of. Copies share what was read: of keys, and of events that are skipped.
public struct RecordAuthenticator: Sendable {
    public enum Verdict: Hashable, Sendable {
        /// Written by a holder of this key.
        case authentic(key: UInt32)
        /// Not under this key, or without a MAC.
        case forged
        /// Under a key that is not held here.
        case unknownKey(UInt32)
    }

    private let keys: [UInt32: HMACSHA256]
    private let announced: Announcements

    /// Fails when there is no key, or a key is shorter than 32 bytes.
    public init(keys: [UInt32: Secret]) throws(LogError) {
        guard let first = keys.keys.min() else { throw LogError(.misconfigured, "no MAC key for the log was given") }
        var contexts: [UInt32: HMACSHA256] = [:]
        for (id, key) in keys {
            guard id > 0, key.count >= 32 else {
                throw LogError(.misconfigured, "MAC key \(id) of the log is shorter than 32 bytes")
            }
            contexts[id] = HMACSHA256(key: key)
        }
        self.keys = contexts
        announced = Announcements(first: first)
    }

    private init(keys: [UInt32: HMACSHA256], announced: Announcements) {
        self.keys = keys
        self.announced = announced
    }

    /// The same keys for a process that has read nothing yet.
    func afresh() -> RecordAuthenticator {
        RecordAuthenticator(keys: keys, announced: Announcements(first: keys.keys.min() ?? 1))
    }

    /// The key that commands, replies and published keys are written under.
    public var current: UInt32 { announced.newest }

    /// From now on, this is written under. What is not held is not: its readers stop.
    ///
    /// - Parameter time: when it was introduced to everybody.
    func introduce(_ key: UInt32, at time: Timestamp?) {
        if holds(key) { announced.introduce(key, at: time) }
    }

    /// From now on, every reader passes the event over.
    public func skip(_ event: SkippedEvent) { announced.skip(event.place, because: event.reason) }

    /// Why an event is skipped; `nil`: it counts.
    func reason(toSkip offset: Int64, of partition: TopicPartition) -> String? {
        announced.reason(toSkip: EventPlace(partition, offset))
    }

    /// All events that are known to be skipped.
    public var skipped: [SkippedEvent] {
        announced.skipped.sorted { $0.key < $1.key }
            .map { SkippedEvent($0.key.partition, offset: $0.key.offset, reason: $0.value) }
    }

    public func holds(_ key: UInt32) -> Bool { keys[key] != nil }

    /// Adds the headers `ce_mackeyid` and `ce_mac`. The key must be held.
    public func sealed(_ record: OutgoingRecord, under key: UInt32? = nil) -> OutgoingRecord {
        let id = key ?? current
        guard let context = keys[id] else { preconditionFailure("sealing under a key that is not held") }
        var record = record
        record.headers.append(Header(HeaderName.macKey, String(id)))
        let canonical = RecordDigest.canonical(
            record.partition, key: record.key, headers: record.headers, value: record.value, withMAC: false)
        record.headers.append(Header(HeaderName.mac, context.code(for: canonical)))
        return record
    }

    /// Whether a record that is in no chain counts: a command, a reply, a published key. A key that is held is taken before its
    /// introduction was read: whoever wrote the record may have read more. A key whose time is over is taken for an hour.
    public func accepts(_ record: Record) -> Bool {
        guard case .authentic(let key) = verify(record) else { return false }
        return !announced.isRetired(key, at: record.time)
    }

    public func verify(_ record: Record) -> Verdict {
        guard let mac = record.header(HeaderName.mac), let text = record.header(HeaderName.macKey),
            let id = UInt32(decimal: text)
        else { return .forged }
        guard let context = keys[id] else { return .unknownKey(id) }
        let canonical = RecordDigest.canonical(
            record.partition, key: record.key, headers: record.headers, value: record.value, withMAC: false)
        return context.isValid(mac, for: canonical) ? .authentic(key: id) : .forged
    }
}

extension FixedWidthInteger {
    /// A decimal number without sign, leading zeros or anything around it; `nil` for all else.
    init?(decimal bytes: some Collection<UInt8>) {
        guard let first = bytes.first, bytes.count <= 20, first != UInt8(ascii: "0") || bytes.count == 1 else { return nil }
        var value: Self = 0
        for byte in bytes {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, overflow2) = product.addingReportingOverflow(Self(byte - UInt8(ascii: "0")))
            guard !overflow, !overflow2 else { return nil }
            value = sum
        }
        self = value
    }
}
