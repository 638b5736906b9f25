import EventSchema

/// A reply, as a process sent it.
struct Told {
    var process: String
    var command: MessageID
    var data: [UInt8]
    /// Microseconds of the simulation, and the log's clock.
    var time: Int64
    var clock: Timestamp
    /// How many valid events the log held.
    var validEvents: Int
    /// The last event that was projected, where there is a projection.
    var projected: Int64
}
