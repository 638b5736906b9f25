internal import EventSchema

/// What the topics are called in Kafka: a prefix lets several Latchkeys share a cluster.
struct TopicNames: Sendable {
    var prefix: String

    func name(_ topic: Topic) -> String { prefix + topic.rawValue }

    func topic(_ name: UnsafePointer<CChar>) -> Topic? {
        let name = String(cString: name)
        return name.hasPrefix(prefix) ? Topic(rawValue: String(name.dropFirst(prefix.count))) : nil
    }
}
