import EventLogSimulated
import EventSchema
import SeededRandom

@testable import EventLog

/// What holds once the run is over.
extension Audit {
    mutating func checkEnd() {
        if let cut = world.cut {
            checkNoticed(cut)
            // What was decided on lost commands cannot be decided again.
            guard cut.partition == world.own else { return }
            // Rows of what is lost may have been decided on: that shows when it is projected, and nobody is told of it.
            if world.isProjected { return }
            // Whoever was told something by what is lost cannot be satisfied any more; it may still have been on its way to
            // those who noticed later.
            let noticed = world.everyone.filter { $0.gaveUp?.code == .truncated }
            let misled = Set((cut.mustNotice + noticed).map(\.name))
            world.told.removeAll { $0.time <= cut.time || misled.contains($0.process) }
            check()
            return
        }
        check()
        checkAgreement()
        checkReaders()
        checkAnswered()
        checkCalm()
        if world.profile.hasTwoOwners { checkVoid() }
        if world.isProjected { checkProjection() }
    }

    private func checkNoticed(_ cut: Cut<Load>) {
        for process in cut.mustNotice where !process.isDead && process.gaveUp?.code != .truncated {
            // Who does not decide any more does not read commands any more, nor events where they are not its state.
            if cut.partition != world.own || world.isProjected, process.wasReleased { continue }
            world.violate("\(process.name) did not notice that \(cut.partition) lost its end")
        }
    }

    /// All who follow the chain see the same one.
    private func checkAgreement() {
        for process in world.processes {
            guard let process, let loop = process.loop else { continue }
            let head = loop.chain.head
            if head.sequence != Int64(world.events.events.count) || head.hash != world.events.headHash {
                world.violate("\(process.name) sees head \(head.sequence), and the log holds \(world.events.events.count) events")
            }
            guard !world.isProjected else { continue }
            // What does not count any more may be forgotten, or not have been read.
            let now = world.broker.clock
            for (key, aggregate) in aggregates where !world.hasJumped {
                let own = loop.aggregates[key].flatMap { world.load.essence(of: $0, at: now) }
                if own != world.load.essence(of: aggregate, at: now) {
                    world.violate("\(process.name) has another state of \(key) than the events give: \(String(describing: own))")
                }
            }
        }
    }

    /// Readers that begin anywhere see it, too.
    private func checkReaders() {
        var starts: [ChainPosition?] = [nil]
        for offsets in world.committed {
            if let metadata = offsets[world.own]?.metadata { starts.append(ChainPosition(encoded: metadata)) }
        }
        let log = world.broker.contents.description.id
        let contents = world.broker.contents
        for start in starts.shuffled(using: &world.scheduler.random).prefix(4) {
            var reader = ChainReader(world.own, at: start, log: log, authenticator: world.authenticator)
            do throws(LogError) {
                for record in contents.records(of: world.own, from: reader.position.start) { _ = try reader.read(record) }
                try reader.reachedEnd(contents.bounds(of: world.own).upperBound)
            } catch {
                world.violate("a reader from \(start?.offset ?? 0) fails: \(error)")
            }
            if reader.head.hash != world.events.headHash {
                world.violate("a reader from \(start?.offset ?? 0) sees another head")
            }
        }
    }

    /// Every event that somebody waited for was answered in time, if there was somebody to do it.
    private func checkAnswered() {
        guard !world.hasJumped, !world.storeWasAway else { return }
        var answered: [MessageID: Int64] = [:]
        for told in world.told where answered[told.command] == nil { answered[told.command] = told.time }
        let profile = world.profile
        var grace = profile.network.delay > 0 || profile.network.interrupt > 0 ? 3 * profile.network.longDelay : 300_000
        // What is on its way to the store when somebody dies is told by the next one, if there is one.
        if world.isProjected, profile.longTransactions > 0 || profile.lostTransactions > 0 {
            grace += 3 * profile.longTransaction
        }
        for event in world.events.events {
            let envelope = event.envelope
            guard let command = envelope.causation, envelope.replyTo != nil, let deadline = envelope.deadline,
                let appended = world.appendTimes[event.record.offset], world.answer(to: envelope) != nil
            else { continue }
            let left = (deadline.milliseconds - envelope.appended.milliseconds) * 1_000
            guard left > grace, appended + grace < world.scheduler.now else { continue }
            if let time = answered[command], time <= appended + left + 1_000 { continue }
            let somebody = world.everyone.contains { process in
                process.readyTimes.contains { $0.lowerBound <= appended && appended + grace <= $0.upperBound }
            }
            if somebody { world.violate("event \(envelope.sequence) was not answered, and somebody was there to do it") }
        }
    }

    /// When nothing goes wrong, every command gets what it asks for.
    private func checkCalm() {
        let calm = world.calmSince + 5_000_000
        let answered = Set(world.told.map(\.command))
        var asked = 0
        for command in world.sent where command.sentAt > calm {
            guard command.budget > 1_000 else { continue }
            asked += 1
            if answered.contains(command.id) { continue }
            // Another service answers these.
            if case .committed(_, nil) = outcome(of: command.id) { continue }
            world.violate("command \(command.id) was not answered although nothing went wrong")
        }
        if asked > 0, !world.processes.contains(where: { $0?.loop?.isReady == true }) { world.violate("nobody decides") }
        if world.events.key != world.macKey, world.processes.contains(where: { $0?.loop?.isReady == true }) {
            world.violate("the chain goes on under MAC key \(world.events.key), and \(world.macKey) was introduced")
        }
    }

    /// Two owners at once do more right than wrong.
    private func checkVoid() {
        let valid = world.events.events.count
        if valid >= 40, world.events.void >= valid {
            world.violate("\(world.events.void) void records for \(valid) valid events")
        }
    }

    private func checkProjection() {
        for (key, aggregate) in aggregates {
            let row = world.store.rows[key]
            if row != aggregate {
                world.violate("the projection has \(String(describing: row)) of \(key), the events \(aggregate)")
            }
        }
    }
}
