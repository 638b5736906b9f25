import EventLog
import EventSchema
import Testing

/// What a loop must not lose when it starts, starts over, or has a lot to catch up with.
@Suite struct RecoveryTests {
    @Test func `many refusals at once are named by as many events as it takes`() throws {
        var scene = Scene()
        var owner = scene.owner("a", window: 1)
        try scene.takeOver(&owner)
        // While this one is on its way, the others wait.
        scene.command("y", 1)
        for _ in 0..<2_000 { scene.command("x", 11) }
        try scene.deliver(to: &owner)
        #expect(owner.loop.sizes.open == 2_000)
        try scene.settle(&owner)
        #expect(scene.replies.count == 2_001)
        #expect(try #require(scene.records[Scene.events]).allSatisfy { $0.headers.reduce(0) { $0 + $1.value.count } < 20_000 })
        let named = try scene.valid().map(\.refused.count)
        #expect(named.allSatisfy { $0 <= 64 })
        #expect(named.reduce(0, +) > 1_900)
    }

    @Test func `with a projection, the rest of a batch is decided on what its first events changed`() throws {
        var scene = Scene()
        var owner = scene.owner("a", storage: .projection)
        try scene.takeOver(&owner)
        scene.command("x", 6)
        try scene.deliver(to: &owner)
        try scene.give(.loaded(LoadedBatch(aggregates: [:])), to: &owner)
        // After a failure one event at a time is on its way.
        let failed = try #require(owner.unsent.removeFirst().token)
        try scene.give(.failed(failed), to: &owner)
        scene.command("x", 6)
        try scene.deliver(to: &owner)
        scene.advance(.milliseconds(100))
        try scene.give(.tick, to: &owner)
        try scene.give(.loaded(LoadedBatch(aggregates: [:])), to: &owner)
        try scene.settle(&owner)
        #expect(try scene.valid().count == 1)
        try scene.give(.projected(.projected), to: &owner)
        #expect(scene.replies.sorted() == ["full", "ok 6"])
    }

    @Test func `with a projection, a log that ends before the checkpoint has lost data`() throws {
        var scene = Scene()
        var owner = scene.owner("a", storage: .memory(window: .hours(1)))
        try scene.takeOver(&owner)
        scene.command("x", 1)
        try scene.settle(&owner)
        let early = owner.loop.position
        scene.command("x", 1)
        try scene.settle(&owner)
        let checkpoint = Checkpoint(position: owner.loop.position, answersFrom: early)

        var next = scene.owner("b", start: early, storage: .projection, checkpoint: checkpoint)
        try scene.takeOver(&next)
        scene.records[Scene.events]?.removeLast()
        var late = scene.owner("c", start: early, storage: .projection, checkpoint: checkpoint)
        #expect(throws: LogError.self) { try scene.takeOver(&late) }
    }

    @Test func `commands that no event names may be lost`() throws {
        var scene = Scene()
        var owner = scene.owner("a")
        try scene.takeOver(&owner)
        scene.command("x", 1)
        try scene.settle(&owner)
        let kept = scene.end(of: Scene.commands)
        for _ in 0..<3 { scene.command("x", 0) }
        try scene.settle(&owner)
        let committed = try #require(owner.loop.commits()[Scene.commands])
        #expect(committed.offset == kept + 3)

        scene.records[Scene.commands]?.removeLast(3)
        scene.advance(.seconds(1))
        scene.command("y", 2)
        var next = scene.owner("b")
        try scene.takeOver(&next, committed: committed)
        try scene.settle(&next)
        #expect(scene.replies == ["ok 1", "ok 1", "ok 2"])
    }

    @Test func `reads its inbox on when enough is decided`() throws {
        var scene = Scene()
        var owner = scene.owner("a", window: 1, longestQueue: 4)
        try scene.takeOver(&owner)
        for number in 0..<20 { scene.command("\(number)", 1) }
        try scene.deliver(to: &owner)
        #expect(owner.loop.sizes.open == 4)
        #expect(owner.next[Scene.commands] == nil)
        for _ in 0..<20 {
            try scene.settle(&owner)
            try scene.give(.tick, to: &owner)
            #expect(owner.loop.sizes.open <= 4)
        }
        #expect(scene.replies.count == 20)
        #expect(try scene.valid().count == 20)
    }

    @Test func `a leftover of an earlier loop of the same process does not drop what is on its way`() throws {
        var scene = Scene()
        var first = scene.owner("a")
        try scene.takeOver(&first)
        scene.command("x", 1)
        scene.command("x", 2)
        try scene.deliver(to: &first)
        // The record of the second command is late, and names one that never came.
        let leftover = first.unsent[1].record
        var second = scene.owner("a")
        try scene.takeOver(&second)
        scene.command("x", 3)
        try scene.deliver(to: &second)
        scene.append(leftover)
        try scene.settle(&second)
        #expect(second.loop.counters.dropped == 0)
        #expect(try scene.valid().count == 3)
    }

    @Test func `an event that is acknowledged and never read back is decided again`() throws {
        var scene = Scene()
        var owner = scene.owner("a", window: 1)
        try scene.takeOver(&owner)
        scene.command("x", 3)
        try scene.deliver(to: &owner)
        let lost = owner.unsent.removeFirst()
        try scene.give(.appended(try #require(lost.token), Appended(offset: 0, time: scene.now)), to: &owner)
        scene.command("y", 4)
        try scene.settle(&owner)
        #expect(scene.replies.isEmpty)
        scene.advance(.seconds(5))
        try scene.give(.tick, to: &owner)
        try scene.settle(&owner)
        #expect(try scene.valid().count == 2)
        #expect(scene.replies == ["ok 3", "ok 4"])
        // It comes after all.
        scene.append(lost.record)
        try scene.settle(&owner)
        #expect(try scene.valid().count == 2)
    }

    @Test func `with a projection, an event that another instance has projected takes effect here, too`() throws {
        var scene = Scene()
        scene.acknowledgesProbes = false
        scene.command("x", 1)
        scene.command("y", 2)
        var first = scene.owner("a", storage: .projection)
        var second = scene.owner("b", storage: .projection)
        try scene.takeOver(&first)
        try scene.takeOver(&second)
        // Both commands are one batch.
        try scene.send(from: &first)
        try scene.give(.loaded(LoadedBatch(aggregates: [:])), to: &first)
        try scene.send(from: &first)
        // The other one reads both events and projects them, while this one has read the first alone.
        try scene.deliver(to: &second)
        try scene.give(.projected(.projected), to: &second)
        let done = try #require(second.projections.last)
        #expect(done.to.position.head.sequence == 2)
        let records = try #require(scene.records[Scene.events])
        try scene.give(.record(records[0]), to: &first)
        first.next[Scene.events] = 1
        scene.advance(.seconds(5))
        try scene.give(.tick, to: &first)
        #expect(first.projections.map(\.events.count) == [1])
        try scene.give(.projected(.conflict(done.to)), to: &first)
        #expect(first.happened == [1])
        try scene.deliver(to: &first)
        #expect(first.happened == [1, 2])
        // What was projected before the take-over is none of its business.
        var third = scene.owner("c", storage: .projection, checkpoint: done.to)
        try scene.takeOver(&third)
        #expect(third.happened.isEmpty)
    }

    @Test func `with a projection, reading never goes on behind what is projected`() throws {
        var scene = Scene()
        var owner = scene.owner("a")
        try scene.takeOver(&owner)
        for number in 0..<100 {
            scene.advance(.seconds(1))
            scene.command("\(number)", 1)
            try scene.settle(&owner)
        }
        var next = scene.owner("b", window: 8, storage: .projection)
        try scene.takeOver(&next)
        while let batch = next.projections.first {
            #expect(batch.to.answersFrom.head.sequence <= batch.to.position.head.sequence)
            next.projections.removeFirst()
            try scene.give(.projected(.projected), to: &next)
        }
        #expect(next.happened.count == 100)
    }

    @Test func `void records behind the head may be lost, and what comes to stand there counts`() throws {
        var scene = Scene()
        var owner = scene.owner("a")
        var follower = scene.owner("b")
        try scene.takeOver(&owner)
        scene.command("x", 1)
        try scene.settle(&owner)
        for _ in 0..<2 { scene.append(OutgoingRecord(partition: Scene.events, key: [], headers: [], value: [])) }
        try scene.deliver(to: &owner)
        try scene.deliver(to: &follower)
        scene.records[Scene.events]?.removeLast(2)
        for process in 0...1 {
            if process == 0 {
                try scene.give(.interrupted(Scene.events), to: &owner)
                scene.command("x", 2)
                try scene.settle(&owner)
            } else {
                try scene.give(.interrupted(Scene.events), to: &follower)
                try scene.deliver(to: &follower)
            }
        }
        #expect(try scene.valid().count == 2)
        #expect(scene.replies == ["ok 1", "ok 2"])
        #expect(follower.loop.position.head == owner.loop.position.head)
    }

    @Test func `void records of another service may be lost, and the event that comes to stand there is decided`() throws {
        var scene = Scene()
        var decider = scene.owner("a")
        try scene.takeOver(&decider)
        scene.command("x", 1)
        try scene.settle(&decider)
        scene.append(OutgoingRecord(partition: Scene.events, key: [], headers: [], value: []))
        func follower(start: ChainPosition? = nil) -> Scene.Owner {
            let settings = LoopSettings(
                service: .identity, storage: .memory(window: .hours(1)), inboxes: [.verificationEvents], events: .identityEvents)
            let loop = DecisionLoop(
                Ledger(type: "latchkey.test.settled.v1"), settings: settings, partition: 0, log: Scene.logID,
                authenticator: Scene.authenticator, writer: "b", start: start, random: SystemRandomNumberGenerator())
            return Scene.Owner(loop: loop, next: [TopicPartition(.identityEvents, 0): loop.start])
        }
        let own = TopicPartition(.identityEvents, 0)
        var reader = follower()
        try scene.give(.tookOver(end: 0, committed: nil), to: &reader)
        try scene.settle(&reader)
        scene.records[Scene.events]?.removeLast()
        try scene.give(.interrupted(Scene.events), to: &decider)
        scene.command("x", 2)
        try scene.settle(&decider)
        try scene.give(.interrupted(Scene.events), to: &reader)
        try scene.settle(&reader)
        #expect(scene.records[own]?.filter { $0.header(HeaderName.causation) != nil }.count == 2)
    }
}
