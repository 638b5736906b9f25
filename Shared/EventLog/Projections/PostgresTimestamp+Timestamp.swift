public import EventSchema
public import Postgres

extension PostgresTimestamp {
    public init(_ time: Timestamp) { self.init(milliseconds: time.milliseconds) }
}

extension Timestamp {
    public init(_ time: PostgresTimestamp) { self.init(milliseconds: time.milliseconds) }
}
