import EventLog
import Testing

@testable import EventLogPostgres

@Suite struct `Headers in one value` {
    private func decode(_ bytes: [UInt8]) -> [Header]? { bytes.withUnsafeBytes { HeaderCoding.decode($0) } }

    @Test func `come back in their order`() {
        let headers = [
            Header("ce_id", "x"), Header("other", [0]), Header("ce_id", []), Header("", ""),
            Header("grün", [UInt8](repeating: 1, count: 300)),
        ]
        #expect(decode(HeaderCoding.encode(headers)) == headers)
        #expect(decode(HeaderCoding.encode([])) == [])
    }

    @Test func `take one byte for a known name`() {
        #expect(HeaderCoding.encode([Header("ce_id", [7])]) == [1, 2, 1, 7])
        #expect(HeaderCoding.encode([Header("x", [7])]) == [1, 0, 1, 120, 1, 7])
    }

    @Test func `keep the places that were ever written`() {
        #expect(
            HeaderCoding.names.prefix(25) == [
                "ce_specversion", "ce_id", "ce_type", "ce_source", "ce_time", "ce_subject", "content-type", "ce_sequence",
                "ce_previous",
                "ce_inboxes", "ce_writer", "ce_speculation", "ce_refused", "ce_causationid", "ce_correlationid", "ce_traceparent",
                "ce_replyto", "ce_deadline", "ce_budget", "ce_remember", "ce_client", "ce_mackeyid", "ce_mac", "traceparent",
                "ce_dataschema",
            ])
    }

    @Test func `that are cut short or made up are none`() {
        let whole = HeaderCoding.encode([Header("ce_id", "abc"), Header("other", [UInt8](repeating: 2, count: 200))])
        for length in 0..<whole.count where length != 1 && length != 6 { #expect(decode(Array(whole.prefix(length))) == nil) }
        #expect(decode([2, 1, 0]) == nil)
        #expect(decode([1, 200, 0]) == nil)
        #expect(decode([1, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]) == nil)
    }
}
