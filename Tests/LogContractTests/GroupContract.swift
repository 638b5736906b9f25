import EventLog
import EventSchema
import Testing

@Suite struct `A consumer group` {
    static let group = ConsumerGroup(name: "latchkey-verification", topic: .verificationCommands)

    /// Polls members until what is wanted holds; at no time do two of them have the same partition.
    private func settle(_ members: [Reader], within limit: Duration = .seconds(30), until isDone: () -> Bool) throws {
        let deadline = ContinuousClock.now + limit
        while !isDone() {
            guard ContinuousClock.now < deadline else { throw Reader.Timeout() }
            for member in members {
                try member.poll(timeout: .milliseconds(10))
                let all = members.flatMap { Array($0.owned) }
                #expect(all.count == Set(all).count, "two members have the same partition")
            }
        }
    }

    private func isShared(_ partitions: Int, among members: [Reader]) -> Bool {
        let sizes = members.map(\.owned.count)
        return sizes.reduce(0, +) == partitions && sizes.max()! - sizes.min()! <= 1
            && Set(members.flatMap { Array($0.owned) }) == Set(0..<partitions)
    }

    @Test(arguments: LogBackend.all)
    func `gives everything to its only member`(backend: LogBackend) throws {
        let under = try backend.make(12)
        let member = try under.log.reader("one", group: Self.group)
        try member.poll { $0.owned == Set(0..<12) }
        #expect(member.revocations == 0)
    }

    @Test(arguments: LogBackend.whole, [2, 3, 5])
    func `shares fairly among those that come`(backend: LogBackend, count: Int) throws {
        let under = try backend.make(12)
        var members: [Reader] = []
        for number in 0..<count {
            members.append(try under.anotherProcess().reader("member \(number)", group: Self.group))
            try settle(members) { isShared(12, among: members) }
        }
        #expect(members.map(\.owned.count).sorted() == (0..<count).map { 12 / count + ($0 >= count - 12 % count ? 1 : 0) })
    }

    @Test(arguments: LogBackend.whole)
    func `gives the share of one that leaves to the others at once`(backend: LogBackend) throws {
        let under = try backend.make(12)
        let members = try (0..<3).map { try under.anotherProcess().reader("member \($0)", group: Self.group) }
        try settle(members) { isShared(12, among: members) }
        members[0].consumer.close()
        let rest = Array(members[1...])
        try settle(rest) { isShared(12, among: rest) }
    }

    @Test(arguments: LogBackend.whole)
    func `gives up a member that stopped, which notices when it goes on`(backend: LogBackend) throws {
        let under = try backend.make(12)
        let stopped = try under.anotherProcess().reader("stopped", group: Self.group)
        let members = try (0..<2).map { try under.anotherProcess().reader("member \($0)", group: Self.group) }
        try settle([stopped] + members) { isShared(12, among: [stopped] + members) }
        let before = stopped.owned
        #expect(before.count == 4)

        try settle(members) { isShared(12, among: members) }
        #expect(members.allSatisfy { $0.owned.count == 6 })

        // It learns that it lost everything before it is given anything.
        let revocations = stopped.revocations
        while stopped.revocations == revocations { try stopped.poll(timeout: .milliseconds(10)) }
        #expect(stopped.owned.isDisjoint(with: members[0].owned.union(members[1].owned)))
        try settle([stopped] + members) { isShared(12, among: [stopped] + members) }
    }

    @Test(arguments: LogBackend.whole)
    func `gives nobody everything while others live`(backend: LogBackend) throws {
        let under = try backend.make(12)
        let members = try (0..<4).map { try under.anotherProcess().reader("member \($0)", group: Self.group) }
        try settle(members) { isShared(12, among: members) }
        // One polls far more than the others.
        for _ in 0..<200 { try members[2].poll(timeout: .zero) }
        #expect(members[2].owned.count == 3)
        try settle(members) { isShared(12, among: members) }
        #expect(members.allSatisfy { $0.owned.count == 3 })
    }

    @Test(arguments: LogBackend.whole)
    func `stops delivering what it takes, and only that`(backend: LogBackend) throws {
        let under = try backend.make(4)
        let writer = try under.log.writer()
        let first = try under.log.reader("first", group: Self.group)
        try first.poll { $0.owned.count == 4 }
        for number in 0..<4 {
            first.consumer.follow(TopicPartition(.verificationCommands, number), from: 0)
            first.consumer.follow(TopicPartition(.verificationEvents, number), from: 0)
        }
        let second = try under.anotherProcess().reader("second", group: Self.group)
        try settle([first, second]) { isShared(4, among: [first, second]) }
        let lost = try #require(second.owned.first)
        let kept = try #require(first.owned.first)
        // A log may take a member's whole share to give a part of it back, as Kafka does: what is given must be followed.
        first.consumer.follow(TopicPartition(.verificationCommands, kept), from: 0)
        try writer.append("lost", to: TopicPartition(.verificationCommands, lost))
        try writer.append("kept", to: TopicPartition(.verificationCommands, kept))
        try writer.append("event", to: TopicPartition(.verificationEvents, lost))
        try first.poll { $0.total == 2 }
        for _ in 0..<3 { try first.poll() }
        #expect(first.count(TopicPartition(.verificationCommands, kept)) == 1)
        #expect(first.count(TopicPartition(.verificationEvents, lost)) == 1)
        #expect(first.count(TopicPartition(.verificationCommands, lost)) == 0)
    }

    @Test(arguments: LogBackend.all)
    func `is apart from other groups`(backend: LogBackend) throws {
        let under = try backend.make(6)
        let one = try under.log.reader("one", group: Self.group)
        let other = try under.log.reader("other", group: ConsumerGroup(name: "other", topic: .identityChecks))
        try one.poll { $0.owned.count == 6 }
        try other.poll { $0.owned.count == 6 }
    }

    @Test(arguments: LogBackend.all)
    func `keeps positions for its next start`(backend: LogBackend) throws {
        let under = try backend.make(4)
        let partitions = (0..<4).map { TopicPartition(.verificationEvents, $0) }
        let first = try under.log.makeConsumer(client: "first", group: Self.group)
        #expect(try first.committed(partitions) == [:])
        let position = CommittedOffset(offset: 41, metadata: "41 7 grün 🌱")
        first.commit([
            partitions[1]: CommittedOffset(offset: 7, metadata: ""), partitions[2]: CommittedOffset(offset: 5, metadata: "x"),
        ])
        first.commit([partitions[1]: position])
        #expect(try first.committed([partitions[1]]) == [partitions[1]: position])
        first.close()

        let second = try under.anotherProcess().makeConsumer(client: "second", group: Self.group)
        defer { second.close() }
        #expect(
            try second.committed(partitions) == [
                partitions[1]: position, partitions[2]: CommittedOffset(offset: 5, metadata: "x"),
            ])
        let stranger = try under.log.makeConsumer(client: "x", group: ConsumerGroup(name: "other", topic: .verificationCommands))
        defer { stranger.close() }
        #expect(try stranger.committed(partitions) == [:])
    }
}
