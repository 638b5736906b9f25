internal import Crypto
public import EventSchema

/// What a command of an operator needs of the log: who reads, who writes, under the newest MAC key, and where it is answered.
public struct OperatorHandles: Sendable {
    public let consumer: any LogConsumer
    public let producer: any LogProducer
    public let address: ReplyAddress

    /// Blocks.
    ///
    /// - Parameter patience: how long the log is waited for.
    public init(log: any EventLog, authenticator: RecordAuthenticator, patience: Duration) throws(LogError) {
        // Nothing secret is told to operators, so nobody keeps the other half.
        address = ReplyAddress(
            partition: 0, process: Random.bytes(16), publicKey: KeyPair.random().publicKey, request: Random.bytes(16))
        consumer = try log.makeConsumer(client: "operator", group: nil)
        do throws(LogError) {
            try authenticator.readAnnouncements(with: consumer, within: patience)
            producer = try log.makeProducer(client: "operator")
        } catch {
            consumer.close()
            throw error
        }
    }

    /// Where the answers stand.
    public var replies: TopicPartition { TopicPartition(.replies, Int(address.partition)) }

    public func close() {
        producer.close()
        consumer.close()
    }
}
