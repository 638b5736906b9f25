internal import EventSchema

/// Events that an operator has had skipped: see `SkippedEvents`.
extension LoopSession {
    /// Whether a partition need not be given up, because the event that is in its way is skipped, or one was that it has read.
    mutating func passesOver(_ partition: Int, because error: LogError) -> Bool {
        guard let loop = loops[partition]?.loop else { return false }
        if error.code == .closed, let late = loop.late {
            if loop.hasProjected(late) { driver.notice(.skippedLate(late)) }
            startOver(partition)
            return true
        }
        guard error.code == .unreadable, let poison = loop.poison else { return false }
        poisons[partition] = poison
        return (try? goOn(partition)) == true
    }

    /// Goes on with partitions whose poison event is skipped by now.
    mutating func lookForSkips() throws(LogError) {
        if mustStartOver {
            mustStartOver = false
            throw LogError(.closed, "a partition goes on behind an event that is skipped")
        }
        guard !poisons.isEmpty, SteadyClock.now >= lookForSkipsAt else { return }
        lookForSkipsAt = SteadyClock.now + .seconds(5)
        for partition in poisons.keys.sorted() {
            do throws(LogError) {
                _ = try goOn(partition)
            } catch {
                guard !error.passes else { throw error }
                // What follows cannot be read either: the partition stands still, and the others go on.
                poisons[partition] = nil
            }
        }
    }

    /// Returns whether the event at which the partition stands still is skipped.
    mutating func goOn(_ partition: Int) throws(LogError) -> Bool {
        guard let poison = poisons[partition] else { return false }
        let isSkipped = try SkippedEvents.contains(
            poison.event.offset, of: poison.event.partition, behind: poison.behind, in: driver.log,
            authenticator: driver.authenticator)
        guard isSkipped else { return false }
        startOver(partition)
        return true
    }

    /// Reads a partition again, from where a start begins.
    mutating func startOver(_ partition: Int) {
        poisons[partition] = nil
        gaveUp[partition] = nil
        loops[partition] = nil
        arriving.insert(partition)
        // What is followed on every instance is folded again from where a start begins.
        mustStartOver = isMemory
    }

    /// Somebody else may have the partition next. Whoever gets it looks again.
    mutating func forgetPoison(of partition: Int) {
        if poisons.removeValue(forKey: partition) != nil { gaveUp[partition] = nil }
    }
}
