/// What goes wrong between processes and a log: probabilities for each message, times in microseconds.
public struct NetworkFaults: Sendable, Hashable {
    /// A message takes up to `longDelay`, instead of a millisecond or two.
    public var delay = 0.0
    public var longDelay: Int64 = 1_500_000
    /// An append never arrives, and is reported as failed after `messageTimeout`.
    public var drop = 0.0
    /// An append arrives, and is reported as failed all the same.
    public var loseAcknowledgement = 0.0
    /// An append is reported as failed and arrives after that.
    public var lateAppend = 0.0
    /// An append arrives twice, at most `duplicateWindow` apart.
    public var duplicate = 0.0
    /// An append may overtake those before it.
    public var reorder = 0.0
    /// A reader hears that fetching was interrupted.
    public var interrupt = 0.0
    public var messageTimeout: Int64 = 2_000_000
    public var duplicateWindow: Int64 = 4_000_000

    public init() {}
}
