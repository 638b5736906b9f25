import EventSchema

/// Who shares a topic's partitions: ranges, one after the other, in the order in which the members joined. A partition is
/// given to its next holder only after the one before it has let go of it, or has stopped to poll.
struct GroupState: Sendable {
    struct Member: Sendable {
        var id: ObjectIdentifier
        var polled: ContinuousClock.Instant
        /// What the member was told that it has.
        var holds: Set<Int> = []
    }

    private var members: [Member] = []

    mutating func join(_ id: ObjectIdentifier, at now: ContinuousClock.Instant) { members.append(Member(id: id, polled: now)) }

    mutating func leave(_ id: ObjectIdentifier) { members.removeAll { $0.id == id } }

    /// One poll of a member: what it loses now, and what it gets.
    mutating func poll(
        _ id: ObjectIdentifier, at now: ContinuousClock.Instant, partitions: Int, timeout: Duration
    ) -> (revoked: Set<Int>, assigned: Set<Int>) {
        members.removeAll { $0.id != id && now - $0.polled > timeout }
        guard let index = members.firstIndex(where: { $0.id == id }) else {
            // The others took it for dead: it begins again.
            join(id, at: now)
            return ([], [])
        }
        members[index].polled = now
        // The first of the members get one more where it does not divide.
        let (share, rest) = partitions.quotientAndRemainder(dividingBy: members.count)
        let start = index * share + min(index, rest)
        let due = Set(start..<start + share + (index < rest ? 1 : 0))
        let revoked = members[index].holds.subtracting(due)
        members[index].holds.subtract(revoked)
        let held = members.reduce(into: Set<Int>()) { $0.formUnion($1.holds) }
        let assigned = due.subtracting(held)
        members[index].holds.formUnion(assigned)
        return (revoked, assigned)
    }

    func holds(_ id: ObjectIdentifier) -> Bool { members.contains { $0.id == id } }
}
