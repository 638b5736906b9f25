internal import CKafka
internal import EventLog
internal import EventSchema
internal import Synchronization

/// One client of librdkafka. Its methods may be called from any thread.
final class KafkaHandle: @unchecked Sendable {
    // librdkafka's handles are thread-safe; the pointer never changes.
    let pointer: OpaquePointer
    let names: TopicNames

    enum Kind { case producer, consumer }

    init(_ kind: Kind, _ properties: [String: String], _ names: TopicNames, client: String, events: Int32) throws(LogError) {
        self.names = names
        guard let configuration = rd_kafka_conf_new() else { throw LogError(.unavailable, "out of memory") }
        var properties = properties
        properties["client.id"] = "latchkey-\(client)"
        for (name, value) in properties.sorted(by: { $0.key < $1.key }) {
            do throws(LogError) { try Self.set(name, value, kind, configuration) } catch {
                rd_kafka_conf_destroy(configuration)
                throw error
            }
        }
        rd_kafka_conf_set_events(configuration, events)
        rd_kafka_conf_set_log_cb(configuration, discardKafkaLog)
        var message = [CChar](repeating: 0, count: 512)
        guard
            let pointer = rd_kafka_new(
                kind == .producer ? RD_KAFKA_PRODUCER : RD_KAFKA_CONSUMER, configuration, &message, message.count)
        else {
            rd_kafka_conf_destroy(configuration)
            throw LogError(.misconfigured, "librdkafka refuses its configuration: \(text(message))")
        }
        self.pointer = pointer
    }

    /// Properties of the other kind of client are passed over; librdkafka knows which are.
    private static func set(_ name: String, _ value: String, _ kind: Kind, _ configuration: OpaquePointer) throws(LogError) {
        var message = [CChar](repeating: 0, count: 512)
        let result = rd_kafka_conf_set(configuration, name, value, &message, message.count)
        guard result == RD_KAFKA_CONF_OK else {
            // The value may be a password.
            throw LogError(.misconfigured, "librdkafka does not take the property \(name)")
        }
    }

    /// Ending a client can take as long as a broker does not answer, so it is left to a thread of its own, once nobody uses
    /// the client any more.
    deinit {
        let ended = Ending(pointer)
        KafkaThread.start("kafka-end") { rd_kafka_destroy_flags(ended.pointer, Int32(RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE)) }
    }

    /// A pointer on its way to the thread that ends it.
    private struct Ending: @unchecked Sendable {
        // Used by that thread alone.
        let pointer: OpaquePointer
        init(_ pointer: OpaquePointer) { self.pointer = pointer }
    }
}

/// librdkafka's own lines: what matters of them reaches the application as errors.
private func discardKafkaLog(
    _ handle: OpaquePointer?, _ level: Int32, _ facility: UnsafePointer<CChar>?, _ text: UnsafePointer<CChar>?
) {}

func text(_ characters: [CChar]) -> String {
    String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

extension LogError {
    /// What librdkafka says, without any content.
    init(kafka code: rd_kafka_resp_err_t, _ what: String) {
        let name = rd_kafka_err2name(code).map { String(cString: $0) } ?? "unknown"
        switch code {
        case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC, RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
            self.init(.notProvisioned, "\(what): \(name)")
        case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE,
            RD_KAFKA_RESP_ERR_INVALID_RECORD:
            self.init(.rejected, "\(what): \(name)")
        case RD_KAFKA_RESP_ERR__DESTROY, RD_KAFKA_RESP_ERR__FATAL: self.init(.closed, "\(what): \(name)")
        default: self.init(.unavailable, "\(what): \(name)")
        }
    }
}
