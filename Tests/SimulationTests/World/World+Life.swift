import EventLogSimulated
import EventSchema
import SeededRandom

@testable import EventLog

/// Processes come and go.
extension World {
    func start() {
        for slot in 0..<profile.processes {
            processes.append(nil)
            launch(slot)
        }
        for slot in owners { processes[slot]?.takeOver() }
        client()
        if upstream != nil { upstreamService() }
        every(profile.kills) { $0.killSomebody() }
        every(profile.pauses) { $0.pauseSomebody() }
        every(profile.moves) { $0.move() }
        every(profile.leaderChanges) { world in
            guard
                let topic = [world.own, world.commands, world.upstream].compactMap({ $0 }).randomElement(
                    using: &world.scheduler.random)
            else { return }
            world.note("\(topic) gets another leader")
            world.broker.changeLeader(of: topic)
        }
        every(profile.clockJumps) { $0.jump() }
        every(profile.lostCommits) { world in
            world.note("committed offsets are lost")
            world.broker.forgetCommits(of: world.group)
        }
        if isProjected { every(profile.storeOutages) { $0.loseStore() } }
        every(profile.rotations) { $0.rotate() }
        every(profile.pace * 5) { $0.remind() }
    }

    /// The next MAC key is introduced to everybody; each process hears of it when it does.
    private func rotate() {
        guard macKey < 4 else { return }
        macKey += 1
        note("MAC key \(macKey) is introduced")
        authenticator.introduce(macKey, at: nil)
        for process in processes { process?.hearLater(of: macKey) }
    }

    /// Whoever takes itself for the owner has a timer.
    private func remind() {
        guard let input = load.timer() else { return }
        submissions.append(input)
        for slot in owners { processes[slot]?.submit(input) }
    }

    /// Something that happens again and again until it is calm.
    private func every(_ interval: Int64?, _ happen: @escaping (World) -> Void) {
        guard let interval else { return }
        scheduler.after(gap(interval)) { [weak self] in
            guard let self, !self.isCalm else { return }
            happen(self)
            self.every(interval, happen)
        }
    }

    func gap(_ average: Int64) -> Int64 { Int64.random(in: 0...2 * average, using: &scheduler.random) }
    private func soon(_ range: ClosedRange<Int64>) -> Int64 { Int64.random(in: range, using: &scheduler.random) }

    /// The slots whose processes take themselves for owners.
    var owners: [Int] { profile.hasTwoOwners ? [0, 1] : [owner] }

    private func launch(_ slot: Int) {
        let process = SimulatedProcess(
            world: self, name: "p\(everyone.count)", clockOffset: Int64.random(in: 0...1_000_000_000, using: &scheduler.random))
        everyone.append(process)
        if macKey > 1 { process.hearLater(of: macKey) }
        processes[slot] = process
        process.start()
        if cut?.partition == own, startsAtLostHead { cut?.mustNotice.append(process) }
    }

    /// Whether a position is committed whose head the log does not hold any more.
    private var startsAtLostHead: Bool {
        guard let metadata = broker.contents.committed(by: group, for: [own])[own]?.metadata,
            let head = ChainPosition(encoded: metadata)?.head, head.sequence > 0
        else { return false }
        return head.sequence > Int64(events.events.count) || events.events[Int(head.sequence) - 1].record.hash != head.hash
    }

    private func killSomebody() {
        let slot = Int.random(in: 0..<processes.count, using: &scheduler.random)
        guard let process = processes[slot], !process.isDead else { return }
        process.kill()
        scheduler.after(soon(100_000...4_000_000)) { [weak self] in self?.revive(slot) }
        guard !profile.hasTwoOwners, slot == owner else { return }
        scheduler.after(soon(100_000...2_000_000)) { [weak self] in
            guard let self, self.owner == slot, self.processes[slot]?.isDead == true else { return }
            self.give(to: self.someSlot())
        }
    }

    private func revive(_ slot: Int) {
        guard processes[slot]?.isDead == true else { return }
        launch(slot)
        if owners.contains(slot) { scheduler.after(soon(1_000...500_000)) { [weak self] in self?.takeOverIfDue(slot) } }
    }

    private func takeOverIfDue(_ slot: Int) {
        guard owners.contains(slot), let process = processes[slot], !process.isDead, !process.isOwner else { return }
        process.takeOver()
    }

    private func pauseSomebody() {
        let slot = Int.random(in: 0..<processes.count, using: &scheduler.random)
        guard let process = processes[slot], process.isRunning else { return }
        process.pause()
        scheduler.after(soon(50_000...12_000_000)) { [weak process] in process?.resume() }
        guard !profile.hasTwoOwners, slot == owner, scheduler.random.chance(0.7) else { return }
        // It is taken for dead; it learns of that some time after it has gone on.
        scheduler.after(soon(200_000...2_000_000)) { [weak self] in
            guard let self, self.owner == slot, self.processes[slot] === process else { return }
            self.give(to: self.someSlot())
        }
    }

    private func move() {
        guard !profile.hasTwoOwners else { return }
        give(to: someSlot())
    }

    private func someSlot() -> Int { Int.random(in: 0..<processes.count, using: &scheduler.random) }

    /// The partition gets another owner; the one before it may hear of that later.
    private func give(to slot: Int) {
        let before = processes[owner]
        let changes = slot != owner
        owner = slot
        if changes, let before, !before.isDead {
            before.releaseLater(after: scheduler.random.chance(0.5) ? 0 : soon(0...profile.zombieTime))
        }
        scheduler.after(soon(1_000...300_000)) { [weak self] in self?.takeOverIfDue(slot) }
    }

    private func jump() {
        let size = [1_500, 20_000, 130_000, 4_000_000].randomElement(using: &scheduler.random) ?? 0
        let change = Interval.milliseconds(Int64.random(in: -Int64(size)...Int64(size), using: &scheduler.random))
        hasJumped = true
        note("the log's clock jumps by \(change.milliseconds) ms")
        broker.skew = .milliseconds(broker.skew.milliseconds + change.milliseconds)
    }

    private func loseStore() {
        note("the store is away")
        storeWasAway = true
        store.isAway = true
        scheduler.after(soon(100_000...3_000_000)) { [weak self] in
            self?.note("the store is back")
            self?.store.isAway = false
        }
    }

    /// Faults end; everybody who is not dead goes on, and whoever should run does.
    func calmDown() {
        note("it is calm from now on")
        isCalm = true
        calmSince = scheduler.now
        broker.faults = NetworkFaults()
        store.isAway = false
        for process in processes { process?.resume() }
        for slot in processes.indices where processes[slot]?.isDead == true { revive(slot) }
        scheduler.after(500_000) { [weak self] in
            guard let self else { return }
            for slot in self.owners { self.takeOverIfDue(slot) }
        }
    }

    /// The end of a topic is lost.
    func loseEnd() {
        guard let partition = [own, own, commands].compactMap({ $0 }).randomElement(using: &scheduler.random) else { return }
        let bounds = broker.contents.bounds(of: partition)
        guard !bounds.isEmpty else { return }
        let offset = Int64.random(
            in: max(bounds.lowerBound, bounds.upperBound - 12)..<bounds.upperBound, using: &scheduler.random)
        note("\(partition) loses everything from \(offset) to \(bounds.upperBound)")
        var mustNotice: [SimulatedProcess<Load>] = []
        for process in processes {
            guard let process, !process.isDead, process.gaveUp == nil, let loop = process.loop else { continue }
            let hasRead =
                partition == own
                ? loop.chain.head.offset >= offset : loop.isReady && loop.inboxes.offset(of: partition.topic) > offset
            process.wasReleased = false
            if hasRead { mustNotice.append(process) }
        }
        broker.truncate(partition, at: offset)
        if partition == own { events.truncate(at: offset) }
        cut = Cut(partition: partition, offset: offset, mustNotice: mustNotice, time: scheduler.now)
    }

    func gaveUp(_ process: SimulatedProcess<Load>, _ error: LogError) {
        guard error.code == .truncated, cut != nil else {
            return violate("\(process.name) gave up: \(error)")
        }
    }
}

extension SimulatedProcess {
    /// Reads of a MAC key that was introduced to everybody.
    func hearLater(of macKey: UInt32) {
        world.scheduler.after(Int64.random(in: 0...1_000_000, using: &world.scheduler.random)) { [weak self] in
            guard let self else { return }
            // Without a time the key before it is never retired: clocks jump by more than that takes, back and forth.
            self.authenticator.introduce(macKey, at: nil)
        }
    }

    func releaseLater(after delay: Int64) {
        world.scheduler.after(delay) { [weak self] in
            guard let self, let slot = self.world.processes.firstIndex(where: { $0 === self }), !self.world.owners.contains(slot)
            else { return }
            self.release()
        }
    }
}
