internal import EventSchema
internal import Synchronization

/// One run of a driver, on its thread.
struct LoopSession<Store: ProjectionStore> {
    typealias Domain = Store.Domain

    let driver: LoopDriver<Store>
    var description = LogDescription(id: [], partitions: 0)
    var producer: (any LogProducer)?
    var consumer: (any LogConsumer)?
    /// Each behind a reference: to look at a loop must not copy it.
    var loops: [Int: Slot] = [:]
    /// Partitions that the group gave to this instance and that are still to be taken over.
    var arriving: Set<Int> = []
    var gaveUp: [Int: LogError] = [:]
    /// Events at which partitions stand still.
    var poisons: [Int: PoisonedPlace] = [:]
    var lookForSkipsAt = LocalInstant(milliseconds: 0)
    var mustStartOver = false
    var loads: [Int: LoadRequest<Domain.Key>] = [:]
    var projections: [Int: ProjectionBatch<Domain.Event>] = [:]
    /// Partitions that are followed from elsewhere since the last poll: what else it brought of them is out of place.
    var moved: Set<TopicPartition> = []
    var wakeAt = LocalInstant(milliseconds: .max)
    var commitAt = LocalInstant(milliseconds: 0)
    /// When what is shown is brought up to date again.
    var showAt = LocalInstant(milliseconds: 0)
    var isWaiting = false
    /// Where partitions ended that have been read from since the start and not up to there.
    var starting: [Int: Int64] = [:]

    final class Slot {
        var loop: DecisionLoop<Domain>

        init(_ loop: DecisionLoop<Domain>) { self.loop = loop }
    }

    init(driver: LoopDriver<Store>) { self.driver = driver }

    var isMemory: Bool {
        if case .memory = driver.settings.storage { true } else { false }
    }

    mutating func run() throws(LogError) {
        defer { close() }
        while !isStopping {
            do throws(LogError) {
                if consumer == nil { try open() }
                try step()
            } catch {
                guard error.passes else { throw error }
                wait(because: error)
            }
        }
    }

    private var isStopping: Bool { driver.mail.withLock { $0.isStopping } }

    // MARK: Opening

    private mutating func open() throws(LogError) {
        description = try driver.log.describe()
        try driver.authenticator.readAnnouncements(of: driver.log) { isStopping }
        guard let group = driver.settings.inboxes.first(where: { $0.kind == .commands }) ?? driver.settings.inboxes.first else {
            throw LogError(.misconfigured, "a service without an inbox has nothing to decide")
        }
        let producer = try driver.log.makeProducer(client: driver.client)
        do throws(LogError) {
            let consumer = try driver.log.makeConsumer(
                client: driver.client, group: ConsumerGroup(name: "latchkey-\(driver.client)", topic: group))
            do throws(LogError) {
                if isMemory { try followAll(consumer) }
            } catch {
                // A consumer that follows only some partitions would never be given the others.
                loops.removeAll()
                consumer.close()
                throw error
            }
            self.consumer = consumer
            driver.waker.withLock { $0 = consumer }
        } catch {
            producer.close()
            throw error
        }
        self.producer = producer
    }

    /// A state in memory is folded on every instance, so that taking a partition over costs nothing.
    private mutating func followAll(_ consumer: any LogConsumer) throws(LogError) {
        let partitions = (0..<description.partitions).map { TopicPartition(driver.settings.events, $0) }
        let committed = try consumer.committed(partitions)
        var fromBeginning: [Int] = []
        for partition in partitions where gaveUp[partition.partition] == nil {
            let start = committed[partition].flatMap { ChainPosition(encoded: $0.metadata) }
            let bounds = try consumer.bounds(of: partition)
            if start == nil, !bounds.isEmpty { fromBeginning.append(partition.partition) }
            starting[partition.partition] = bounds.upperBound
            let slot = makeLoop(partition.partition, start: start, checkpoint: nil)
            consumer.follow(partition, from: slot.loop.start)
            loops[partition.partition] = slot
        }
        if !fromBeginning.isEmpty { driver.notice(.readsFromBeginning(fromBeginning)) }
    }

    private func makeLoop(_ partition: Int, start: ChainPosition?, checkpoint: Checkpoint?) -> Slot {
        let slot = Slot(
            DecisionLoop(
                driver.domain, settings: driver.settings, partition: partition, log: description.id,
                authenticator: driver.authenticator,
                writer: driver.writer, start: start, checkpoint: checkpoint, random: SystemRandomNumberGenerator()))
        return slot
    }

    private mutating func close() {
        guard let consumer else { return }
        for (partition, slot) in loops where slot.loop.isOwned { feed(.released, to: partition) }
        driver.waker.withLock { $0 = nil }
        producer?.flush(within: .seconds(3))
        consumer.close()
        producer?.close()
        self.consumer = nil
        producer = nil
    }

    private mutating func wait(because error: LogError) {
        if !isWaiting { driver.notice(.waits(error)) }
        isWaiting = true
        driver.shown.withLock { $0.isAvailable = false }
        if error.code == .closed { reset() }
        SteadyClock.rest(.milliseconds(200))
    }

    /// Starts over with new handles: what was decided and not confirmed is read again.
    private mutating func reset() {
        close()
        for partition in poisons.keys { forgetPoison(of: partition) }
        loops.removeAll()
        starting.removeAll()
        arriving.removeAll()
        loads.removeAll()
        projections.removeAll()
    }

    // MARK: One step

    private mutating func step() throws(LogError) {
        guard let consumer else { return }
        let now = SteadyClock.now
        let isDue = !loads.isEmpty || !projections.isEmpty || !arriving.isEmpty
        let due = wakeAt
        let timeout = isDue ? 0 : min(max(min(due, commitAt, showAt).milliseconds - now.milliseconds, 0), 1_000)
        let events = try consumer.poll(timeout: .milliseconds(timeout))
        // What comes meanwhile is held as long when it is its turn.
        if hasNews(events) { SteadyClock.rest(driver.settings.hold) }
        // While one partition has something to do all the time, the others are woken nevertheless when theirs is due.
        let isTime = events.isEmpty || SteadyClock.now >= due
        if isTime { wakeAt = LocalInstant(milliseconds: .max) }
        moved.removeAll()
        for event in events { take(event) }
        let inputs = driver.mail.withLock { takeInputs(&$0) }
        for (partition, input) in inputs { feed(input, to: partition) }
        if !inputs.isEmpty { showClock() }
        if isTime { for partition in loops.keys { feed(.tick, to: partition) } }
        try lookForSkips()
        try takeOverArriving()
        // Inputs are fed from here: whatever asks the store is not specialised, nor what it would call.
        while !projections.isEmpty || !loads.isEmpty {
            for (partition, outcome) in try project() { feed(.projected(outcome), to: partition) }
            for (partition, batch) in try load() { feed(.loaded(batch), to: partition) }
        }
        if isWaiting, consumer.isAvailable {
            isWaiting = false
            driver.notice(.resumes)
        }
        commit()
        // To show everything takes longer than to decide one command.
        let end = SteadyClock.now
        if end >= showAt {
            show()
            showAt = LocalInstant(milliseconds: .max)
        } else if !events.isEmpty || isTime {
            showAt = min(showAt, end + .milliseconds(20))
        }
    }

    /// Whether there is something that has to wait.
    private func hasNews(_ events: [LogEvent]) -> Bool {
        driver.settings.hold > .zero
            && events.contains {
                guard case .records(let partition, _) = $0 else { return false }
                return partition.topic != driver.settings.events
            }
    }

    private func takeInputs(_ mail: inout LoopDriver<Store>.Mail) -> [(partition: Int, input: LoopInput<Domain>)] {
        defer { mail.inputs.removeAll() }
        return mail.inputs
    }

    private mutating func take(_ event: LogEvent) {
        switch event {
        case .assigned(let partitions):
            arriving.formUnion(partitions)
        case .revoked(let partitions):
            for partition in partitions { release(partition) }
            driver.notice(.released(partitions))
        case .records(let partition, let records):
            for record in records where !moved.contains(partition) { feed(.record(record), to: partition.partition) }
        case .reachedEnd(let partition, let end) where !moved.contains(partition):
            feed(.reachedEnd(partition, end: end), to: partition.partition)
        case .outOfRange(let partition, let begin, let end) where !moved.contains(partition):
            feed(.outOfRange(partition, begin: begin, end: end), to: partition.partition)
        case .interrupted(let partition) where !moved.contains(partition):
            feed(.interrupted(partition), to: partition.partition)
        case .reachedEnd, .outOfRange, .interrupted: break
        }
    }

    private mutating func release(_ partition: Int) {
        arriving.remove(partition)
        feed(.released, to: partition)
        loads[partition] = nil
        projections[partition] = nil
        if !isMemory || gaveUp[partition] != nil {
            loops[partition] = nil
            forgetPoison(of: partition)
            consumer?.unfollow(TopicPartition(driver.settings.events, partition))
        }
    }

    private mutating func takeOverArriving() throws(LogError) {
        arriving.subtract(gaveUp.keys)
        guard !arriving.isEmpty, let consumer else { return }
        let partitions = arriving.sorted()
        let topic = driver.settings.inboxes.first { $0.kind == .commands }
        let committed =
            try topic.map { topic throws(LogError) in
                try consumer.committed(partitions.map { TopicPartition(topic, $0) })
            } ?? [:]
        let checkpoints = isMemory ? [:] : try readCheckpoints(of: partitions)
        // Whatever fails fails before the first is taken over: what is taken over is told to the service, all of it.
        var ends: [Int: Int64] = [:]
        for partition in partitions where gaveUp[partition] == nil {
            ends[partition] = try consumer.bounds(of: TopicPartition(driver.settings.events, partition)).upperBound
        }
        for (partition, end) in ends.sorted(by: { $0.key < $1.key }) {
            let own = TopicPartition(driver.settings.events, partition)
            if !isMemory {
                let checkpoint = checkpoints[partition] ?? nil
                let slot = makeLoop(partition, start: checkpoint?.answersFrom, checkpoint: checkpoint)
                consumer.follow(own, from: slot.loop.start)
                loops[partition] = slot
            }
            arriving.remove(partition)
            feed(.tookOver(end: end, committed: topic.flatMap { committed[TopicPartition($0, partition)] }), to: partition)
        }
        arriving.subtract(gaveUp.keys)
        if !ends.isEmpty { driver.notice(.tookOver(ends.keys.sorted())) }
    }

    // MARK: Loops and their actions

    private mutating func feed(_ input: LoopInput<Domain>, to partition: Int) {
        guard let slot = loops[partition], gaveUp[partition] == nil else { return }
        var actions: [LoopAction<Domain>] = []
        do throws(LogError) {
            try slot.loop.handle(input, at: SteadyClock.now, actions: &actions)
        } catch {
            giveUp(partition, because: error)
        }
        let isOwner = loops[partition] != nil && slot.loop.isOwned
        for action in actions { perform(action, for: partition, isOwner: isOwner) }
    }

    /// Loudly: the partition stands still until somebody has looked. A projection that was set back is no reason to; it is
    /// simply read again.
    private mutating func giveUp(_ partition: Int, because error: LogError) {
        if error.code == .misconfigured, !isMemory {
            loops[partition] = nil
            arriving.insert(partition)
            return
        }
        if !passesOver(partition, because: error) { stop(partition, because: error) }
    }

    mutating func stop(_ partition: Int, because error: LogError) {
        gaveUp[partition] = error
        loads[partition] = nil
        projections[partition] = nil
        driver.notice(.gaveUp(TopicPartition(driver.settings.events, partition), error))
        for topic in [driver.settings.events] + driver.settings.inboxes { consumer?.unfollow(TopicPartition(topic, partition)) }
    }

    private mutating func perform(_ action: LoopAction<Domain>, for partition: Int, isOwner: Bool) {
        let driver = driver
        switch action {
        case .append(let record, let token):
            // It would fail again and again.
            if let rejection = record.rejection { return giveUp(partition, because: rejection) }
            producer?.append(record) { result in
                switch result {
                // An event is read back, which wakes; a probe is not.
                case .success(let appended): driver.post(.appended(token, appended), to: partition, wake: token.sequence == 0)
                case .failure:
                    driver.shown.withLock { $0.appendFailures += 1 }
                    driver.post(.failed(token), to: partition, wake: true)
                }
            }
        case .reply(let record):
            producer?.append(record) { result in
                if case .failure = result { driver.shown.withLock { $0.appendFailures += 1 } }
            }
        case .follow(let partition, let offset):
            consumer?.follow(partition, from: offset)
            moved.insert(partition)
        case .unfollow(let partition): consumer?.unfollow(partition)
        case .load(let request): loads[partition] = request
        case .project(let batch): projections[partition] = batch
        case .happened(let event): driver.happened(event, isOwner)
        case .wake(let instant): wakeAt = min(wakeAt, instant)
        }
    }

    private mutating func commit() {
        let now = SteadyClock.now
        guard now >= commitAt else { return }
        commitAt = now + .seconds(1)
        var commits: [TopicPartition: CommittedOffset] = [:]
        for (partition, slot) in loops where gaveUp[partition] == nil {
            commits.merge(slot.loop.commits()) { _, new in new }
        }
        if !commits.isEmpty { consumer?.commit(commits) }
    }

    /// What an acknowledgement has told of the time is shown at once.
    private func showClock() {
        let newest = loops.values.filter { $0.loop.isOwned }.map { $0.loop.clock }.max { $0.asked < $1.asked }
        guard let newest else { return }
        driver.shown.withLock { if newest.asked >= $0.clock.asked { $0.clock = newest } }
    }

    private mutating func show() {
        starting = starting.filter { partition, end in
            guard let slot = loops[partition], gaveUp[partition] == nil else { return false }
            return !slot.loop.hasRead(to: end)
        }
        var status = LoopStatus()
        status.isAvailable = consumer?.isAvailable ?? false
        status.hasStarted = starting.isEmpty
        status.gaveUp = gaveUp
        for (partition, slot) in loops {
            if slot.loop.isOwned {
                status.owned.insert(partition)
                if slot.loop.isReady, gaveUp[partition] == nil { status.ready.insert(partition) }
            }
            status.positions[partition] = (slot.loop.position.offset, slot.loop.position.head.sequence)
            status.counters.add(slot.loop.counters)
            status.partitions[partition] = slot.loop.status
        }
        driver.shown.withLock {
            (status.appendFailures, status.clock) = ($0.appendFailures, $0.clock)
            $0 = status
        }
    }
}
