import Crypto
import EventLog
import EventSchema
import Testing

@testable import Sealing

/// 2026-03-01T10:00:00Z, and its day.
let morning = Timestamp(milliseconds: 1_772_359_200_000)
let today = Timestamp(milliseconds: 1_772_323_200_000)

func authenticator(_ keys: ClosedRange<UInt32> = 1...1) throws -> RecordAuthenticator {
    try RecordAuthenticator(
        keys: Dictionary(uniqueKeysWithValues: keys.map { ($0, Secret(Array(repeating: UInt8($0), count: 32))) }))
}

/// A key of the Notifier that is usable from `start` on, for two days.
func key(
    _ id: String, of service: ServiceName = .notifier, from start: Timestamp = today, for time: Interval = .days(2),
    publicKey: [UInt8] = Random.bytes(32)
) -> SealingKeyPublished {
    SealingKeyPublished(service: service, key: id, publicKey: publicKey, notBefore: start, notAfter: start + time)
}

extension OutgoingRecord {
    /// As it would stand in the log.
    func standing(at offset: Int64, time: Timestamp = morning) -> Record {
        Record(partition: partition, offset: offset, time: time, key: key, headers: headers, value: value)
    }
}

extension SealingKeyPublished {
    func record(at offset: Int64, time: Timestamp = morning, by keys: ClosedRange<UInt32> = 1...1) throws -> Record {
        KeyRecord.publishing(self, at: time, by: try authenticator(keys)).standing(at: offset, time: time)
    }
}

/// Waits until something is the case.
func eventually(_ what: Comment, _ condition: () throws -> Bool) async throws {
    let deadline = ContinuousClock.now + .seconds(20)
    while try !condition() {
        try #require(ContinuousClock.now < deadline, what)
        try await Task.sleep(for: .milliseconds(5))
    }
}
