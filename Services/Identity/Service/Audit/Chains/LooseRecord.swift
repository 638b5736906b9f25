internal import Crypto
internal import EventLog
internal import EventSchema

/// A record that does not go on from the head: what may be void by rule, or show that the log was changed.
struct LooseRecord: Equatable, Sendable {
    var offset: Int64
    /// What the record says of its place in the chain; `nil` where it says nothing that can be read.
    var sequence: Int64?
    var previous: [UInt8]?
    var hash: [UInt8]
    /// Why no holder of a MAC key can have written it; `nil` where one did, or nobody can tell.
    var fault: String?
    /// Whether it has what every event has, whatever became of it.
    var looksLikeEvent: Bool
    /// Which speculation of which writer it belongs to.
    var speculation: [[UInt8]?]
    /// When it was decided.
    var time: Timestamp?

    init(_ record: Record, hash: [UInt8], fault: String?) {
        offset = record.offset
        sequence = record.claimedSequence
        previous = record.claimedPrevious
        self.hash = hash
        self.fault = fault
        let usual = [HeaderName.sequence, HeaderName.previous, HeaderName.writer, HeaderName.speculation, HeaderName.mac]
        speculation = [record.header(HeaderName.writer), record.header(HeaderName.speculation)]
        time = record.header(HeaderName.time).flatMap { Timestamp(rfc3339: String(decoding: $0, as: UTF8.self)) }
        looksLikeEvent = usual.count { record.header($0) != nil } >= 3
    }
}

extension Record {
    /// The place in the chain that the record claims.
    var claimedSequence: Int64? {
        header(HeaderName.sequence).flatMap { Int64(String(decoding: $0, as: UTF8.self)) }.flatMap { $0 > 0 ? $0 : nil }
    }

    /// The hash of the event before it, as the record claims.
    var claimedPrevious: [UInt8]? {
        header(HeaderName.previous).flatMap { Base64URL.decode(String(decoding: $0, as: UTF8.self)) }
            .flatMap { $0.count == 32 ? $0 : nil }
    }
}
