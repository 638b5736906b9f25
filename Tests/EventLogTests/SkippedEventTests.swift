import Crypto
import EventLogSimulated
import EventSchema
import Testing

@testable import EventLog

/// Events that everybody could read, and that an operator has had skipped nevertheless.
@Suite struct `An event that is skipped` {
    private let authenticator = Scene.authenticator.afresh()

    /// Five deposits of one, and then another event that says something of an earlier one.
    private func scene(skipping offset: Int64) throws -> Scene {
        var scene = try `A chain`.scene()
        var reader = ChainReader(Scene.events, at: nil, log: Scene.logID, authenticator: Scene.authenticator.afresh())
        var last: EventEnvelope?
        for record in scene.records[Scene.events] ?? [] {
            if case .valid(let event) = try reader.read(record) { last = event }
        }
        let event = try #require(last)
        var chain = try ChainWriter(Scene.events, after: reader.head, authenticator: Scene.authenticator, writer: "operator")
        scene.append(
            chain.append(
                SkippedEvent(Scene.events, offset: offset, reason: "a mistake").body, id: .random(), key: [], at: event.time,
                inboxes: event.inboxes))
        return scene
    }

    private func read(_ scene: Scene, from position: ChainPosition? = nil) throws -> (ChainReader, [EventEnvelope]) {
        var reader = ChainReader(Scene.events, at: position, log: Scene.logID, authenticator: authenticator)
        var events: [EventEnvelope] = []
        for record in scene.records[Scene.events] ?? [] {
            if case .valid(let event) = try reader.read(record) { events.append(event) }
        }
        return (reader, events)
    }

    @Test func `is a valid event that says nothing, to all who know`() throws {
        let scene = try scene(skipping: 2)
        authenticator.skip(SkippedEvent(Scene.events, offset: 2, reason: "a mistake"))
        let (reader, events) = try read(scene)
        #expect(events.map(\.sequence) == [1, 2, 3, 4, 5, 6])
        #expect(events.map(\.skipped) == [nil, nil, "a mistake", nil, nil, nil])
        #expect(events.map(\.saysNothing) == [false, false, true, false, false, true])
        #expect(reader.late.isEmpty)
    }

    @Test func `comes to light where the chain says so, and then everybody knows`() throws {
        let scene = try scene(skipping: 2)
        let (first, events) = try read(scene)
        #expect(events.allSatisfy { $0.skipped == nil })
        #expect(first.late == [SkippedEvent(Scene.events, offset: 2, reason: "a mistake")])
        let (second, again) = try read(scene)
        #expect(again[2].skipped == "a mistake")
        #expect(second.late.isEmpty)
        // Who never gave it has nothing to take back.
        let behind = ChainPosition(
            offset: 3, head: ChainHead(sequence: 3, hash: try #require(scene.records[Scene.events])[2].hash, offset: 2, key: 1))
        var reader = ChainReader(Scene.events, at: behind, log: Scene.logID, authenticator: Scene.authenticator.afresh())
        for record in try #require(scene.records[Scene.events]).dropFirst(2) { _ = try reader.read(record) }
        #expect(reader.head.sequence == 6)
        #expect(reader.late.isEmpty)
    }

    @Test(arguments: [5, 6, 1_000])
    func `stands before the event that says so`(offset: Int64) throws {
        let (reader, _) = try read(scene(skipping: offset))
        #expect(reader.late.isEmpty)
        #expect(authenticator.skipped.isEmpty)
    }

    @Test func `is announced in the words of the chain`() throws {
        let skipped = SkippedEvent(TopicPartition(.identityEvents, 7), offset: 41, reason: "“quoted”")
        let record = skipped.announcement(by: authenticator)
        let stored = Record(
            partition: record.partition, offset: 3, time: Scene.noon, key: record.key, headers: record.headers,
            value: record.value)
        #expect(SkippedEvent(announcedIn: stored) == skipped)

        let log = SimulatedLog(partitions: 2, now: { Scene.noon })
        let producer = try log.makeProducer(client: "operator")
        producer.append(record) { _ in }
        var forged = SkippedEvent(Scene.events, offset: 1, reason: "no").announcement(by: authenticator)
        forged.value[forged.value.count - 3] ^= 1
        producer.append(forged) { _ in }
        producer.flush(within: .seconds(10))
        let reader = Scene.authenticator.afresh()
        try reader.readAnnouncements(of: log)
        #expect(reader.skipped == [skipped])
    }

    @Test func `is no part of any state, whoever starts when`() throws {
        // Each account holds ten at most: with one deposit less there is room for another.
        var scene = try scene(skipping: 2)
        var owner = scene.owner("b", authenticator: authenticator)
        #expect(throws: LogError.self) { try scene.deliver(to: &owner) }
        #expect(owner.loop.late?.offset == 2)
        var next = scene.owner("c", authenticator: authenticator)
        try scene.takeOver(&next)
        #expect(next.loop.late == nil)
        scene.command("x", 6)
        try scene.settle(&next)
        #expect(try scene.valid().last?.body.type == "latchkey.test.deposited.v1")
        #expect(scene.replies.last == "ok 6")
    }

    @Test func `is projected by nobody`() throws {
        var scene = try scene(skipping: 2)
        authenticator.skip(SkippedEvent(Scene.events, offset: 2, reason: "a mistake"))
        var owner = scene.owner("b", storage: .projection, authenticator: authenticator)
        try scene.takeOver(&owner)
        var events: [ConfirmedEvent<Ledger.Deposit>] = []
        while !owner.projections.isEmpty {
            events += owner.projections.removeFirst().events
            try scene.give(.projected(.projected), to: &owner)
        }
        #expect(events.map { $0.event != nil } == [true, true, false, true, true, false])
    }

    @Test func `is no input of another service`() throws {
        var scene = try scene(skipping: 2)
        authenticator.skip(SkippedEvent(Scene.events, offset: 2, reason: "a mistake"))
        let settings = LoopSettings(
            service: .identity, storage: .memory(window: .hours(1)), inboxes: [.verificationEvents], events: .identityEvents)
        let loop = DecisionLoop(
            Ledger(type: "latchkey.test.settled.v1"), settings: settings, partition: 0, log: Scene.logID,
            authenticator: authenticator, writer: "b", start: nil, random: SystemRandomNumberGenerator())
        let own = TopicPartition(.identityEvents, 0)
        var follower = Scene.Owner(loop: loop, next: [own: 0])
        try scene.give(.tookOver(end: 0, committed: nil), to: &follower)
        try scene.settle(&follower)
        let settled = (scene.records[own] ?? []).filter {
            $0.header(HeaderName.type) == Array("latchkey.test.settled.v1".utf8)
        }
        #expect(settled.count == 4)
    }
}
