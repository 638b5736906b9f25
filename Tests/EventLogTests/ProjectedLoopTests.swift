import EventSchema
import Testing

@testable import EventLog

/// A loop whose state is a projection, and what happens between it, the log and the store.
@Suite struct ProjectedLoopTests {
    /// An owner that has read these commands and loads what they need.
    private func scene(_ deposits: [Int64], window: Int = 256) throws -> (Scene, Scene.Owner) {
        var scene = Scene()
        scene.acknowledgesProbes = false
        for amount in deposits { scene.command("x", amount) }
        var owner = scene.owner("a", window: window, storage: .projection)
        try scene.takeOver(&owner)
        try scene.send(from: &owner)
        return (scene, owner)
    }

    @Test func `a confirmed event is projected though one behind it is lost`() throws {
        var (scene, owner) = try scene([1, 2])
        try scene.give(.loaded(LoadedBatch(aggregates: [:])), to: &owner)
        #expect(owner.unsent.count == 2)
        scene.append(owner.unsent[0].record)
        try scene.deliver(to: &owner)
        // The other one may come in the next moment.
        #expect(owner.projections.isEmpty)
        scene.advance(.milliseconds(64))
        try scene.give(.tick, to: &owner)
        #expect(owner.projections.map(\.events.count) == [1])
        try scene.give(.projected(.projected), to: &owner)
        #expect(scene.replies == ["ok 1"])
    }

    @Test func `a batch that leads to no event is followed by the next one`() throws {
        var (scene, owner) = try scene([11, 12, 13], window: 1)
        for count in 1...3 {
            #expect(owner.loads.count == count)
            try scene.give(.loaded(LoadedBatch(aggregates: [:])), to: &owner)
        }
        #expect(scene.replies == ["full", "full", "full"])
    }

    @Test func `a log that ends before what another instance has projected has lost data`() throws {
        var (scene, owner) = try scene([1])
        try scene.give(.loaded(LoadedBatch(aggregates: [:])), to: &owner)
        try scene.settle(&owner)
        // Another instance has read two events that are lost by now.
        var ahead = try #require(owner.projections.first).to
        ahead.position.head.sequence += 2
        ahead.position.head.offset += 2
        ahead.position.offset += 2
        try scene.give(.projected(.conflict(ahead)), to: &owner)
        #expect(scene.replies == ["ok 1"])
        #expect(throws: LogError.self) { try scene.deliver(to: &owner) }
    }

    @Test func `a checkpoint on another log is noticed`() throws {
        var (scene, owner) = try scene([1])
        try scene.give(.loaded(LoadedBatch(aggregates: [:])), to: &owner)
        try scene.settle(&owner)
        var other = try #require(owner.projections.first).to
        other.position.head.hash[0] ^= 1
        #expect(throws: LogError.self) { try scene.give(.projected(.conflict(other)), to: &owner) }
    }

    @Test func `what was refused too late may still be decided otherwise where there are several inboxes`() throws {
        var scene = Scene()
        var settings = LoopSettings(
            service: .verification, storage: .memory(window: .hours(1)), inboxes: [.verificationCommands, .identityEvents],
            events: .verificationEvents)
        settings.window = 8
        let loop = DecisionLoop(
            Ledger(), settings: settings, partition: 0, log: Scene.logID, authenticator: Scene.authenticator, writer: "a",
            start: nil, random: SystemRandomNumberGenerator())
        var owner = Scene.Owner(loop: loop, next: [Scene.events: 0])
        try scene.takeOver(&owner)
        // Nobody waits any more when it is read.
        scene.command("x", 11, budget: 100)
        scene.advance(.seconds(1))
        try scene.give(.tick, to: &owner)
        try scene.settle(&owner)
        #expect(owner.loop.counters.refused == 1)
        #expect(!owner.loop.speculative.decided.isEmpty)
        #expect(owner.loop.commits().isEmpty)
    }
}
