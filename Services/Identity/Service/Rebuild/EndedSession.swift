internal import EventSchema
internal import Postgres
internal import Projections

/// A session that has ended lately: a row of `ended_sessions`, whose rows belong to a partition and to no home.
struct EndedSession: Hashable, Sendable {
    static let table = "ended_sessions"
    static let columns = ["partition", "id", "user_id", "ended_at"]

    var id: SessionID
    var user: UserID
    var endedAt: Timestamp

    func write(to rows: inout CopyRows) {
        rows.append(id: id)
        rows.append(id: user)
        rows.append(time: endedAt)
    }
}
