public import EventSchema

/// Something that an audit found in a partition, at one record.
public struct ChainFinding: Equatable, Sendable {
    public enum Kind: String, Sendable, CaseIterable {
        /// A record is not the one that was written there.
        case changed
        /// A record that the chain needs, or an offset that the log once gave, is not there.
        case removed
        /// A record that no holder of a MAC key wrote. The chain goes on behind it.
        case inserted
        /// Two records stand in each other's place.
        case swapped
        /// A record stands behind those that follow from it.
        case moved
        /// The chain once was longer.
        case cut
        /// The chain once held another event at this place.
        case rewritten
        /// An authentic record that the chain could not have held at this place.
        case unfit
        /// The log cannot give the record, or it cannot be judged with the keys that are held.
        case unreadable
        /// A copy of an event that the chain has. It is void by rule, and does no harm.
        case doubled
        /// Two records name the same predecessor. Without the MAC keys nobody can tell which one is valid.
        case fork

        /// Whether a log in which it is found is not as services wrote it.
        public var isBreak: Bool {
            switch self {
            case .doubled, .fork: false
            default: true
            }
        }
    }

    public var kind: Kind
    public var place: TopicPartition
    public var offset: Int64
    /// Which event of the chain is concerned, from 1; `nil` where that is not known.
    public var sequence: Int64?
    /// What is wrong, for an auditor. It holds nothing personal.
    public var text: String

    init(_ kind: Kind, _ place: TopicPartition, at offset: Int64, sequence: Int64? = nil, _ text: String) {
        self.kind = kind
        self.place = place
        self.offset = offset
        self.sequence = sequence
        self.text = text
    }
}
