internal import EventSchema

/// When the rows of partitions were last looked through for what is over, by the time of their events.
///
/// Once in each minute of that time is enough. As it is always done by whole minutes, which rows there are follows from the
/// events alone, however they came together in batches, as long as their times do not run back.
struct Sweeps {
    private var done: [Int: Timestamp] = [:]

    /// The minutes by which it is to be done, by partition, when these are the times of the last events.
    func due(by times: [Int: Timestamp]) -> [Int: Timestamp] {
        times.mapValues(\.startOfMinute).filter { done[$0.key] != $0.value }
    }

    mutating func note(_ times: [Int: Timestamp]) { done.merge(times) { $1 } }

    /// What was done may be lost, or others go on: once more does no harm.
    mutating func forget(_ partitions: some Sequence<Int>) {
        for partition in partitions { done[partition] = nil }
    }
}
