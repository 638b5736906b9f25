package import EventSchema

extension Timestamp {
    /// The whole minute that it falls into. What is over by the last event of a partition is dropped once it is over by this.
    package var startOfMinute: Timestamp {
        let (minutes, rest) = milliseconds.quotientAndRemainder(dividingBy: 60_000)
        return Timestamp(milliseconds: (rest < 0 ? minutes - 1 : minutes) * 60_000)
    }
}
