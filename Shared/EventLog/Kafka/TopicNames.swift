internal import EventSchema
internal import Glibc

/// What the topics are called in Kafka: a prefix lets several Latchkeys share a cluster.
struct TopicNames: Sendable {
    let prefix: String
    /// As C strings, because every record needs one.
    private let names: [(topic: Topic, name: [CChar])]

    init(prefix: String) {
        self.prefix = prefix
        names = Topic.allCases.map { ($0, Array((prefix + $0.rawValue).utf8CString)) }
    }

    func name(_ topic: Topic) -> String { prefix + topic.rawValue }

    func withName<Value>(of topic: Topic, _ body: (UnsafePointer<CChar>) -> Value) -> Value {
        guard let entry = names.first(where: { $0.topic == topic }) else { preconditionFailure("every topic has a name") }
        return entry.name.withUnsafeBufferPointer { body($0.baseAddress!) }
    }

    func topic(_ name: UnsafePointer<CChar>) -> Topic? { names.first { strcmp($0.name, name) == 0 }?.topic }
}
