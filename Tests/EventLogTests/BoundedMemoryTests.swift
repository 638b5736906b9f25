import EventSchema
import Testing

@testable import EventLog

/// What a loop holds must not grow with the log, nor with what a record says of itself.
@Suite struct BoundedMemoryTests {
    @Test(arguments: [LoopSettings.Storage.memory(window: .minutes(1)), .projection])
    func `a follower forgets what nobody waits for, and where nobody starts`(storage: LoopSettings.Storage) throws {
        var scene = Scene()
        var owner = scene.owner("a")
        try scene.takeOver(&owner)
        // It claims that it is waited for for ever, and may come again for ever.
        scene.command("first", 1, budget: .max, remember: .max)
        for number in 0..<600 {
            scene.advance(.seconds(1))
            scene.command("\(number)", 1)
            try scene.settle(&owner)
        }
        var follower = scene.owner("b", storage: storage)
        try scene.deliver(to: &follower)
        #expect(follower.loop.counters.valid == 601)
        #expect(follower.loop.answers.count < 15)
        if case .memory = storage { #expect(follower.loop.milestones.count < 15) }
        #expect(owner.loop.milestones.count < 500)
    }

    @Test func `nobody waits longer than the longest budget`() throws {
        var scene = Scene()
        var owner = scene.owner("a")
        scene.command("x", 1, budget: .max)
        scene.advance(.seconds(11))
        try scene.takeOver(&owner)
        try scene.settle(&owner)
        #expect(owner.loop.counters.expired == 1)
    }

    @Test func `refusals are held until a confirmed event names them`() {
        func refused(_ id: MessageID, _ code: String?) -> RefusedCommand {
            RefusedCommand(id: id, code: code, fingerprint: [1], remember: .seconds(1))
        }
        let ids = (0..<4).map { _ in MessageID.random() }
        var refusals = PendingRefusals()
        let numbers = ids.prefix(3).map { refusals.append(refused($0, "a")) }
        #expect(refusals.name(in: 7).map(\.id) == Array(ids.prefix(3)))
        #expect(refusals.unnamed == 0)
        let last = refusals.append(refused(ids[3], "b"))
        #expect(refusals.unnamed == 1)
        // The same command again, otherwise: the newest counts.
        _ = refusals.append(refused(ids[3], "c"))
        #expect(refusals[ids[3]]?.code == "c")
        refusals.becomeCertain(numbers[1])
        refusals.confirm(through: 6)
        #expect(refusals.count == 5)
        var other = refusals
        refusals.confirm(through: 7)
        #expect(refusals.count == 2)
        #expect(refusals[ids[0]] == nil)
        refusals.becomeCertain(numbers[0])
        refusals.becomeCertain(last)
        refusals.startOver()
        #expect(refusals.name(in: 9).map(\.code) == ["b"])
        // Where the event that was to name them is none, what is certain stays.
        other.startOver()
        #expect(other.name(in: 9).map(\.id) == [ids[1]])
    }
}
