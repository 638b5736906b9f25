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
        let committed = try #require(owner.loop.commits(at: scene.local)[Scene.commands])
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
}
