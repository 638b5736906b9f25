package import EventSchema

/// When the rows of partitions were last looked through for what is over, by the time of their events.
///
/// Once in each minute of that time is enough; and since it is always done by whole minutes, which rows there are follows from
/// the events alone, however they came together in batches.
struct Sweeps {
    private var done: [Int: Timestamp] = [:]

    /// The minutes by which it is to be done, by partition, when these are the times of the last events.
    func due(by times: [Int: Timestamp]) -> [Int: Timestamp] {
        times.mapValues(\.startOfMinute).filter { done[$0.key] != $0.value }
    }

    /// Remembers that it was done. What other instances do beside it makes no difference: once more does no harm.
    mutating func note(_ times: [Int: Timestamp]) { done.merge(times) { $1 } }
}

extension Timestamp {
    /// What is over by the last event of a partition is dropped once it is over by the whole minute of that event.
    package var startOfMinute: Timestamp {
        let (minutes, rest) = milliseconds.quotientAndRemainder(dividingBy: 60_000)
        return Timestamp(milliseconds: (rest < 0 ? minutes - 1 : minutes) * 60_000)
    }
}
