import EventSchema
import NotifierService
import Synchronization

/// A provider that does what a test says.
final class ScriptedProvider: Provider {
    let name: String
    let removesDoubles: Bool
    let batchSize: Int
    let concurrency: Int
    private let script: @Sendable ([OutgoingMessage]) -> [ProviderResult]
    private let taken: @Sendable (MessageID) -> Bool?
    private let received = Mutex<[[OutgoingMessage]]>([])

    init(
        _ name: String = "scripted", removesDoubles: Bool = false, batchSize: Int = 10, concurrency: Int = 1,
        script: @escaping @Sendable ([OutgoingMessage]) -> [ProviderResult] = { $0.map { _ in .delivered(providerID: nil) } },
        taken: @escaping @Sendable (MessageID) -> Bool? = { _ in nil }
    ) {
        self.name = name
        self.removesDoubles = removesDoubles
        self.batchSize = batchSize
        self.concurrency = concurrency
        self.taken = taken
        self.script = script
    }

    /// The calls so far.
    var calls: [[OutgoingMessage]] { received.withLock { $0 } }

    func deliver(_ messages: [OutgoingMessage]) -> [ProviderResult] {
        received.withLock { $0.append(messages) }
        return script(messages)
    }

    func hasTaken(_ id: MessageID, since: Timestamp) -> Bool? { taken(id) }
}
