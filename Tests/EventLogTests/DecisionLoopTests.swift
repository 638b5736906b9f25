import EventLog
import EventSchema
import Testing

@Suite struct `A decision loop` {
    @Test func `answers a command once its event is read back`() throws {
        var scene = Scene()
        var owner = scene.owner("a")
        try scene.takeOver(&owner)
        scene.command("x", 3)
        try scene.deliver(to: &owner)
        #expect(owner.unsent.count == 1)
        try scene.send(from: &owner)
        #expect(scene.replies.isEmpty)
        try scene.deliver(to: &owner)
        #expect(scene.replies == ["ok 3"])
        #expect(try scene.valid().count == 1)
    }

    @Test func `decides on what is still on its way, and tells a refusal only when that is certain`() throws {
        var scene = Scene()
        var owner = scene.owner("a")
        try scene.takeOver(&owner)
        scene.command("x", 8)
        scene.command("x", 8)
        try scene.deliver(to: &owner)
        #expect(owner.unsent.count == 1)
        #expect(scene.replies.isEmpty)
        try scene.settle(&owner)
        #expect(scene.replies.sorted() == ["full", "ok 8"])
    }

    @Test func `tells a refusal on a confirmed head at once, without an event`() throws {
        var scene = Scene()
        var owner = scene.owner("a")
        try scene.takeOver(&owner)
        scene.command("x", 11)
        try scene.settle(&owner)
        #expect(scene.replies == ["full"])
        #expect(try scene.valid().isEmpty)
    }

    @Test func `decides again when another owner was faster, and every reader agrees`() throws {
        var scene = Scene()
        var first = scene.owner("a")
        var second = scene.owner("b")
        try scene.takeOver(&first)
        try scene.takeOver(&second)
        scene.command("x", 6)
        try scene.deliver(to: &first)
        try scene.deliver(to: &second)
        // Both decided on the same head; the record of the second comes first.
        try scene.send(from: &second)
        try scene.send(from: &first)
        try scene.settle(&first)
        try scene.settle(&second)
        #expect(try scene.valid().map(\.writer) == ["b"])
        #expect(Set(scene.replies) == ["ok 6"])

        // The loser gives the other one time to be first again.
        scene.command("x", 6)
        try scene.deliver(to: &first)
        scene.advance(.milliseconds(100))
        try scene.give(.tick, to: &first)
        #expect(scene.replies.contains("full"))
        #expect(try scene.valid().count == 1)
    }

    @Test func `answers a command that comes again, and decides it once`() throws {
        var scene = Scene()
        var owner = scene.owner("a")
        try scene.takeOver(&owner)
        let id = MessageID.random()
        scene.command("x", 4, id: id, remember: 3_600_000)
        try scene.settle(&owner)
        scene.advance(.minutes(30))
        scene.command("x", 4, id: id, remember: 3_600_000, request: 2)
        try scene.settle(&owner)
        #expect(scene.replies == ["ok 4", "ok 4"])
        #expect(try scene.valid().count == 1)

        // A new owner knows it from the log.
        scene.advance(.minutes(1))
        var next = scene.owner("b")
        try scene.takeOver(&next)
        scene.command("x", 4, id: id, remember: 3_600_000, request: 3)
        try scene.settle(&next)
        #expect(scene.replies.count == 3)
        #expect(try scene.valid().count == 1)
    }

    @Test func `refuses again what was refused, though the state would bear it now`() throws {
        var scene = Scene()
        var owner = scene.owner("a")
        try scene.takeOver(&owner)
        let id = MessageID.random()
        scene.command("x", 9)
        scene.command("x", 2, id: id)
        scene.command("x", -9)
        try scene.settle(&owner)
        scene.command("x", 2, id: id)
        try scene.settle(&owner)
        #expect(scene.replies.filter { $0 == "full" }.count == 2)

        scene.command("z", 1)
        try scene.settle(&owner)
        scene.advance(.seconds(11))
        var next = scene.owner("b")
        try scene.takeOver(&next)
        scene.command("x", 2, id: id)
        try scene.settle(&next)
        #expect(scene.replies.filter { $0 == "full" }.count == 3)
    }

    @Test func `drops a command past its budget and passes it before a refusal is told`() throws {
        var scene = Scene()
        var owner = scene.owner("a")
        scene.command("x", 5, budget: 1_000)
        scene.advance(.seconds(2))
        scene.command("y", 11)
        try scene.takeOver(&owner)
        // Another owner's clock may show less and take the first command: the refusal waits for an event that passes both.
        #expect(scene.replies.isEmpty)
        try scene.settle(&owner)
        #expect(scene.replies == ["full"])
        #expect(try scene.valid().map(\.body.type) == [LogRecordType.passed])
        #expect(owner.loop.counters.expired == 1)
    }

    @Test func `starts over when an append fails, and takes what still arrives`() throws {
        var scene = Scene()
        var owner = scene.owner("a")
        try scene.takeOver(&owner)
        scene.command("x", 3)
        try scene.deliver(to: &owner)
        let late = owner.unsent.removeFirst()
        try scene.give(.failed(try #require(late.token)), to: &owner)
        scene.advance(.milliseconds(100))
        try scene.give(.tick, to: &owner)
        #expect(owner.unsent.count == 1)
        scene.append(late.record)
        try scene.settle(&owner)
        #expect(try scene.valid().count == 1)
        #expect(scene.replies == ["ok 3"])
    }

    @Test func `does not drop its speculation for copies of its own records`() throws {
        var scene = Scene()
        var owner = scene.owner("a")
        try scene.takeOver(&owner)
        scene.command("x", 1)
        scene.command("x", 2)
        try scene.deliver(to: &owner)
        let both = owner.unsent
        scene.append(both[0].record)
        scene.append(both[0].record)
        scene.append(both[1].record)
        owner.unsent.removeAll()
        try scene.settle(&owner)
        #expect(owner.loop.counters.dropped == 0)
        #expect(scene.replies == ["ok 1", "ok 2"])
    }

    @Test func `a new owner answers what its predecessor may not have`() throws {
        var scene = Scene()
        var first = scene.owner("a")
        var follower = scene.owner("b")
        try scene.takeOver(&first)
        scene.command("x", 3)
        try scene.deliver(to: &first)
        try scene.send(from: &first)
        try scene.deliver(to: &follower)
        #expect(scene.replies.isEmpty)
        try scene.takeOver(&follower)
        #expect(scene.replies == ["ok 3"])
    }

    @Test func `keeps silent after the budget`() throws {
        var scene = Scene()
        var owner = scene.owner("a")
        try scene.takeOver(&owner)
        scene.command("x", 3, budget: 1_000)
        try scene.deliver(to: &owner)
        try scene.send(from: &owner)
        scene.advance(.seconds(2))
        try scene.deliver(to: &owner)
        #expect(scene.replies.isEmpty)
        #expect(owner.loop.counters.late == 1)
    }

    @Test(arguments: [11, 60, 10_800] as [Int64])
    func `a clock that was set back lets no command look late`(seconds: Int64) throws {
        var scene = Scene()
        var owner = scene.owner("a")
        try scene.takeOver(&owner)
        scene.command("x", 1)
        // The owner learns the time from this one's append.
        try scene.settle(&owner)
        scene.now = scene.now + .seconds(-seconds)
        scene.setBack = .seconds(seconds) + .milliseconds(1)
        scene.command("x", 2)
        scene.command("x", 3)
        try scene.settle(&owner)
        #expect(scene.replies == ["ok 1", "ok 2", "ok 3"])
        #expect(owner.loop.counters.expired == 0)
    }

    @Test(arguments: [11, 60, 10_800] as [Int64])
    func `a clock that was set back lets no answer look late, though nothing else shows that it was`(seconds: Int64) throws {
        var scene = Scene()
        var (owner, other) = (scene.owner("a"), scene.owner("b"))
        try scene.takeOver(&owner)
        try scene.takeOver(&other)
        scene.now = scene.now + .seconds(-seconds)
        scene.setBack = scene.setBack + .seconds(seconds) + .milliseconds(1)
        scene.command("x", 1)
        try scene.deliver(to: &other)
        try scene.send(from: &other)
        // The first record of the new time that it reads, and all that it knows of the time is from before.
        let event = try #require(scene.records[Scene.events]?.last)
        try scene.give(.record(event), to: &owner)
        #expect(scene.replies == ["ok 1"])
        #expect(owner.loop.counters.late == 0)
    }

    @Test func `a clock that was set ahead gives no command more time than its budget`() throws {
        var scene = Scene()
        var owner = scene.owner("a")
        try scene.takeOver(&owner)
        scene.now = scene.now + .hours(1)
        scene.setBack = scene.setBack + .hours(-1)
        scene.command("x", 1, budget: 1_000)
        scene.advance(.seconds(2))
        try scene.settle(&owner)
        #expect(scene.replies.isEmpty)
        #expect(owner.loop.counters.expired == 1)
        // The next one is in time, and the time is known.
        scene.command("x", 2, budget: 1_000)
        try scene.settle(&owner)
        #expect(scene.replies == ["ok 2"])
    }

    @Test func `a time that cannot be asked for is asked for again a little later`() throws {
        var scene = Scene()
        scene.acknowledgesProbes = false
        var owner = scene.owner("a")
        try scene.takeOver(&owner)
        let probe = try #require(owner.unsent.popLast()?.token)
        try scene.give(.failed(probe), to: &owner)
        try scene.give(.tick, to: &owner)
        #expect(owner.unsent.isEmpty)
        scene.advance(.milliseconds(64))
        try scene.give(.tick, to: &owner)
        #expect(owner.unsent.count == 1)
    }

    @Test func `time never runs back, unless a clock was wrong`() throws {
        var scene = Scene()
        var owner = scene.owner("a")
        try scene.takeOver(&owner)
        let right = scene.now
        for shift in [0, -60, 0, 7_200, 0] as [Int64] {
            scene.now = right + .seconds(shift)
            scene.command("x", 1)
            try scene.settle(&owner)
        }
        let times = try scene.valid().map { ($0.time - right).milliseconds / 1_000 }
        #expect(times == [0, 0, 0, 7_200, 0])
    }

    @Test func `notices a log that was cut`() throws {
        var scene = Scene()
        var owner = scene.owner("a")
        try scene.takeOver(&owner)
        for _ in 0..<3 { scene.command("x", 1) }
        try scene.settle(&owner)
        let position = owner.loop.position
        let committed = try #require(owner.loop.commits()[Scene.commands])

        scene.records[Scene.events]?.removeLast()
        var reader = scene.owner("b", start: position)
        #expect(throws: LogError.self) { try scene.takeOver(&reader) }
        // A reader from the beginning sees a shorter chain; the committed position promises more.
        var another = scene.owner("c")
        #expect(throws: LogError.self) { try scene.takeOver(&another, committed: committed) }
        // And the living owner sees it when it looks again.
        try scene.give(.interrupted(Scene.events), to: &owner)
        #expect(throws: LogError.self) { try scene.deliver(to: &owner) }
    }

    @Test func `notices a commands topic that was made anew`() throws {
        var scene = Scene()
        var owner = scene.owner("a")
        try scene.takeOver(&owner)
        scene.command("x", 1)
        try scene.settle(&owner)
        scene.records[Scene.commands] = []
        scene.advance(.seconds(5))
        for _ in 0..<5 { scene.command("x", 1) }
        var next = scene.owner("b")
        #expect(throws: LogError.self) { try scene.takeOver(&next) }
    }

    @Test func `answers commands, and what another service has decided only where that leaves the answer to it`() throws {
        for owesAnswers in [false, true] {
            var scene = Scene()
            var decider = scene.owner("a", domain: Ledger(owesAnswers: false))
            try scene.takeOver(&decider)
            scene.command("x", 3)
            try scene.settle(&decider)
            #expect(scene.replies.isEmpty)
            // Another service decides what the first one's event leads to.
            var settings = LoopSettings(
                service: .identity, storage: .memory(window: .hours(1)), inboxes: [.verificationEvents], events: .identityEvents)
            settings.window = 8
            let loop = DecisionLoop(
                Ledger(type: "latchkey.test.settled.v1", owesEvents: owesAnswers), settings: settings, partition: 0,
                log: Scene.logID,
                authenticator: Scene.authenticator, writer: "b", start: nil, random: SystemRandomNumberGenerator())
            var follower = Scene.Owner(loop: loop, next: [TopicPartition(.identityEvents, 0): 0])
            try scene.give(.tookOver(end: 0, committed: nil), to: &follower)
            try scene.settle(&follower)
            #expect(scene.end(of: TopicPartition(.identityEvents, 0)) == 2)
            #expect(scene.replies == (owesAnswers ? ["ok 3"] : []))
        }
    }

    @Test func `has a command that comes again answered again by the service that owes the answer`() throws {
        var scene = Scene()
        var decider = scene.owner("a", domain: Ledger(owesAnswers: false))
        try scene.takeOver(&decider)
        let id = MessageID.random()
        scene.command("x", 3, id: id, remember: 3_600_000)
        try scene.settle(&decider)
        // A new owner knows it from the log; the copy right behind the first one finds it on its way.
        var next = scene.owner("c", domain: Ledger(owesAnswers: false))
        try scene.takeOver(&next)
        scene.command("x", 3, id: id, remember: 3_600_000, request: 2)
        try scene.settle(&next)
        #expect(try scene.valid().map(\.body.type) == ["latchkey.test.deposited.v1", LogRecordType.repeated])
        #expect(try scene.valid().map(\.causation) == [id, nil])
        #expect(scene.replies.isEmpty)

        // Who owes the answer tells it to both, and only once its own part is projected.
        var settings = LoopSettings(
            service: .identity, storage: .projection, inboxes: [.verificationEvents], events: .identityEvents)
        settings.window = 8
        let loop = DecisionLoop(
            Ledger(type: "latchkey.test.settled.v1", owesEvents: true), settings: settings, partition: 0, log: Scene.logID,
            authenticator: Scene.authenticator, writer: "b", start: nil, random: SystemRandomNumberGenerator())
        var follower = Scene.Owner(loop: loop, next: [TopicPartition(.identityEvents, 0): 0])
        try scene.give(.tookOver(end: 0, committed: nil), to: &follower)
        try scene.settle(&follower)
        try scene.give(.loaded(LoadedBatch(aggregates: [:])), to: &follower)
        try scene.settle(&follower)
        #expect(scene.replies.isEmpty)
        while !follower.projections.isEmpty {
            follower.projections.removeFirst()
            try scene.give(.projected(.projected), to: &follower)
            try scene.settle(&follower)
        }
        #expect(scene.replies == ["ok 3", "ok 3"])
    }

    @Test func `gives the partition up at a type that it does not know`() throws {
        var scene = Scene()
        var owner = scene.owner("a")
        try scene.takeOver(&owner)
        scene.append(
            Scene.authenticator.sealed(
                OutgoingRecord(
                    partition: Scene.commands, key: [],
                    headers: [
                        Header(HeaderName.id, MessageID.random().text), Header(HeaderName.type, "latchkey.test.unheard-of.v9"),
                    ], value: [])))
        #expect(throws: LogError.self) { try scene.deliver(to: &owner) }
    }

    @Test func `drops commands without a right MAC`() throws {
        var scene = Scene()
        var owner = scene.owner("a")
        try scene.takeOver(&owner)
        var forged = scene.command("x", 3)
        try scene.settle(&owner)
        forged.value = Ledger.data(.init(account: "x", amount: 5))
        scene.append(forged)
        try scene.settle(&owner)
        #expect(try scene.valid().count == 1)
        #expect(owner.loop.counters.malformed == 1)
    }

    @Test func `with a projection, loads a batch, projects it, and answers after that`() throws {
        var scene = Scene()
        var owner = scene.owner("a", storage: .projection)
        try scene.takeOver(&owner)
        scene.command("x", 4)
        scene.command("y", 20)
        try scene.deliver(to: &owner)
        #expect(owner.loads.map(\.keys) == [["x"]])
        try scene.give(.loaded(LoadedBatch(aggregates: ["x": 1])), to: &owner)
        #expect(owner.loads.count == 1)
        try scene.settle(&owner)
        #expect(owner.projections.count == 1)
        #expect(scene.replies.isEmpty)
        try scene.give(.projected(.projected), to: &owner)
        #expect(scene.replies == ["ok 4"])
        #expect(owner.happened == [1])
        #expect(owner.loads.map(\.keys) == [["x"], ["y"]])
        try scene.give(.loaded(LoadedBatch(aggregates: [:])), to: &owner)
        #expect(scene.replies == ["ok 4", "full"])
    }

    @Test func `with a projection, a conflict shows what is projected already`() throws {
        var scene = Scene()
        var owner = scene.owner("a", storage: .projection)
        try scene.takeOver(&owner)
        scene.command("x", 4)
        try scene.deliver(to: &owner)
        try scene.give(.loaded(LoadedBatch(aggregates: [:])), to: &owner)
        try scene.settle(&owner)
        let batch = try #require(owner.projections.first)
        try scene.give(.projected(.conflict(batch.to)), to: &owner)
        #expect(scene.replies == ["ok 4"])
        #expect(owner.projections.count == 1)
    }
}
