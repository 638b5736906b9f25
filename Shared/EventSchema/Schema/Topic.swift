/// The services, as they appear in `ce_source` and as owners of topics.
public enum ServiceName: String, Sendable, CaseIterable {
    case gateway, verification, identity, notifier
}

/// The topics of the log. All but `keys` and `replies` have the same number of partitions and the same partitioner.
public enum Topic: String, Sendable, CaseIterable, Comparable {
    case verificationCommands = "verification.commands"
    case verificationEvents = "verification.events"
    case identityChecks = "identity.checks"
    case identityCommands = "identity.commands"
    case identityEvents = "identity.events"
    case notifierCommands = "notifier.commands"
    case notifierEvents = "notifier.events"
    case replies
    case keys

    /// By the case, not by the name as enumerations with raw values do it: topics are looked up for every record.
    public func hash(into hasher: inout Hasher) { hasher.combine(number) }

    private var number: UInt8 {
        switch self {
        case .verificationCommands: 0
        case .verificationEvents: 1
        case .identityChecks: 2
        case .identityCommands: 3
        case .identityEvents: 4
        case .notifierCommands: 5
        case .notifierEvents: 6
        case .replies: 7
        case .keys: 8
        }
    }

    public enum Kind: Sendable {
        /// Asks for something; kept for an hour.
        case commands
        /// Says what happened, as a chain; kept for ever.
        case events
        /// Answers a waiting gateway; kept for an hour.
        case replies
        /// Public sealing keys: one partition, kept for ever.
        case keys
    }

    public var kind: Kind {
        switch self {
        case .verificationCommands, .identityChecks, .identityCommands, .notifierCommands: .commands
        case .verificationEvents, .identityEvents, .notifierEvents: .events
        case .replies: .replies
        case .keys: .keys
        }
    }

    /// The one service whose events are valid in this topic; `nil` for topics that several services write.
    public var owner: ServiceName? {
        switch self {
        case .verificationEvents: .verification
        case .identityEvents: .identity
        case .notifierEvents: .notifier
        default: nil
        }
    }

    /// How many partitions this topic has in a log whose services' topics have `count`.
    public func partitions(of count: Int) -> Int { self == .keys ? 1 : count }

    public static func < (left: Topic, right: Topic) -> Bool { left.rawValue < right.rawValue }
}

/// One partition of one topic.
public struct TopicPartition: Hashable, Comparable, Sendable, CustomStringConvertible {
    public var topic: Topic
    public var partition: Int

    public init(_ topic: Topic, _ partition: Int) {
        self.topic = topic
        self.partition = partition
    }

    public var description: String { "\(topic.rawValue)/\(partition)" }

    public static func < (left: TopicPartition, right: TopicPartition) -> Bool {
        (left.topic, left.partition) < (right.topic, right.partition)
    }
}
