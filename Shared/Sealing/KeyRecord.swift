internal import Crypto
public import EventLog
public import EventSchema

/// Records of the topic `keys`: CloudEvents in binary mode, each one authenticated by itself. There is no chain: several
/// services write, and what a record says does not depend on another.
public enum KeyRecord {
    /// The topic's only partition.
    public static let partition = TopicPartition(.keys, 0)

    /// Publishes a key, as its service. The same publication has the same id, however often it is made.
    public static func publishing(
        _ key: SealingKeyPublished, at time: Timestamp, by authenticator: RecordAuthenticator
    ) -> OutgoingRecord {
        record(key, of: key.service, key: key.key, at: time, by: authenticator)
    }

    /// Tells, as Identity, that a key signs tokens no more.
    public static func telling(_ retired: SigningKeyRetired, by authenticator: RecordAuthenticator) -> OutgoingRecord {
        record(retired, of: .identity, key: retired.key, at: retired.retiredAt, by: authenticator)
    }

    private static func record(
        _ message: some Message, of service: ServiceName, key: String, at time: Timestamp, by authenticator: RecordAuthenticator
    ) -> OutgoingRecord {
        let message = SchemaCodec.current.encode(message)
        let headers = [
            Header(HeaderName.specVersion, "1.0"),
            Header(HeaderName.id, MessageID(digest: SHA256.hash(message.data)).text),
            Header(HeaderName.type, message.type),
            Header(HeaderName.source, source(of: service)),
            Header(HeaderName.time, time.rfc3339),
            Header(HeaderName.contentType, "application/json"),
        ]
        return authenticator.sealed(
            OutgoingRecord(partition: partition, key: Array(key.utf8), headers: headers, value: message.data))
    }

    static func source(of service: ServiceName) -> String { "/\(service.rawValue)" }
}
