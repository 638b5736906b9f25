import EventLogSimulated
import EventSchema
import SeededRandom

@testable import EventLog

/// One process of a service: carries out what its loop asks for, as the driver does, on the simulation's thread.
final class SimulatedProcess<Load: Workload> {
    typealias Domain = Noting<Load.Domain>

    unowned let world: World<Load>
    let name: String
    let authenticator: RecordAuthenticator
    private(set) var loop: DecisionLoop<Domain>?
    private var reader: SimulatedReader?
    private let link = SimulatedLink()
    /// What this process's steady clock shows at the simulation's beginning, in milliseconds.
    private let clockOffset: Int64

    private(set) var isDead = false
    private(set) var gaveUp: LogError?
    var wasReleased = false
    /// Stopped for a while, or blocked in a call to the store; what arrives waits.
    private(set) var isPaused = false
    private var isBusy = false
    private var waiting: [() -> Void] = []
    /// What the store has answered while the process was stopped.
    private var answered: [() -> Void] = []
    private var tickAt: Int64 = .max
    private var ticks = 0

    private var load: LoadRequest<Load.Domain.Key>?
    private var projection: ProjectionBatch<Load.Domain.Event>?

    // What the audit wants to know.
    /// The furthest offset of own events that was read.
    private(set) var hasRead: Int64 = 0
    private var due: [(sequence: Int64, command: MessageID, deadline: Timestamp)] = []
    /// Own events that were read and of whose effect the service must hear, and those that it has heard of.
    private var dueHappenings: [Int64] = []
    private var happened: Set<Int64> = []
    private var told: Set<MessageID> = []
    /// Since when it has been deciding without a break, in microseconds.
    private(set) var readySince: Int64?
    private(set) var readyTimes: [Range<Int64>] = []

    init(world: World<Load>, name: String, clockOffset: Int64) {
        self.world = world
        self.name = name
        self.clockOffset = clockOffset
        authenticator = World<Load>.authenticator.afresh()
        reader = SimulatedReader(world.broker) { [weak self] event in self?.take(event) }
        keepTime()
    }

    private var local: LocalInstant { LocalInstant(milliseconds: clockOffset + world.scheduler.now / 1_000) }
    private var isProjected: Bool { world.isProjected }
    var isRunning: Bool { !isDead && gaveUp == nil && !isPaused }

    // MARK: Life

    /// Starts to follow, where the state is kept in memory.
    func start() {
        guard !isProjected else { return }
        let committed = world.broker.contents.committed(by: world.group, for: [world.own])[world.own]
        let start = committed.flatMap { ChainPosition(encoded: $0.metadata) }
        world.note("\(name) starts at \(start?.offset ?? 0)")
        makeLoop(start: start, checkpoint: nil)
    }

    private func makeLoop(start: ChainPosition?, checkpoint: Checkpoint?) {
        let loop = DecisionLoop(
            Noting(base: world.load.domain, writer: name, book: world.book), settings: world.settings, partition: 0,
            log: world.broker.contents.description.id, authenticator: authenticator, writer: name, start: start,
            checkpoint: checkpoint, random: world.scheduler.random.fork())
        self.loop = loop
        self.loop?.mutation = world.mutation
        hasRead = start?.offset ?? 0
        due.removeAll()
        dueHappenings.removeAll()
        happened.removeAll()
        reader?.follow(world.own, from: loop.start)
    }

    func kill() {
        world.note("\(name) dies")
        endReadiness()
        isDead = true
        loop = nil
        waiting.removeAll()
        answered.removeAll()
        reader?.close()
        reader = nil
    }

    func pause() {
        world.note("\(name) stops for a while")
        endReadiness()
        isPaused = true
    }

    func resume() {
        guard isPaused else { return }
        world.note("\(name) goes on")
        isPaused = false
        let answered = answered
        self.answered = []
        for work in answered { work() }
        flush()
    }

    // MARK: Ownership

    func takeOver() {
        whenFree { [self] in
            if isProjected, world.store.isAway {
                return world.scheduler.after(200_000) { [weak self] in self?.takeOverIfStillDue() }
            }
            let end = world.broker.contents.bounds(of: world.own).upperBound
            let committed = world.commands.flatMap { topic in
                world.broker.contents.committed(by: world.group, for: [topic])[topic]
            }
            if isProjected, loop?.isOwned != true {
                let checkpoint = world.store.checkpoint
                makeLoop(start: checkpoint?.answersFrom, checkpoint: checkpoint)
            }
            world.note("\(name) takes over at \(end)")
            feed(.tookOver(end: end, committed: committed))
        }
    }

    private func takeOverIfStillDue() {
        guard let slot = world.processes.firstIndex(where: { $0 === self }), world.owners.contains(slot) else { return }
        takeOver()
    }

    func release() {
        whenFree { [self] in
            world.note("\(name) is released")
            wasReleased = true
            feed(.released)
            load = nil
            projection = nil
            guard isProjected else { return }
            loop = nil
            reader?.unfollow(world.own)
        }
    }

    var isOwner: Bool { loop?.isOwned ?? false }

    // MARK: Inputs

    private func take(_ event: LogEvent) {
        let partition: TopicPartition
        switch event {
        case .assigned, .revoked: return
        case .records(let place, _), .reachedEnd(let place, _), .outOfRange(let place, _, _), .interrupted(let place):
            partition = place
        }
        let generation = reader?.generation(of: partition)
        /// Whether it is not followed from elsewhere since this was fetched.
        func isInPlace() -> Bool { reader?.generation(of: partition) == generation }
        whenFree { [self] in
            guard isInPlace() else { return }
            switch event {
            case .assigned, .revoked: break
            case .records(_, let records):
                for record in records where isInPlace() {
                    feed(.record(record))
                    if record.partition == world.own { seen(record) }
                }
            case .reachedEnd(let partition, let end): feed(.reachedEnd(partition, end: end))
            case .outOfRange(let partition, let begin, let end):
                world.note("\(name): \(partition) has only \(begin)..<\(end)")
                feed(.outOfRange(partition, begin: begin, end: end))
            case .interrupted(let partition):
                world.note("\(name): \(partition) was interrupted")
                feed(.interrupted(partition))
            }
            check()
        }
    }

    /// Does something now, or when the process is able to.
    private func whenFree(_ work: @escaping () -> Void) {
        if isDead || gaveUp != nil { return }
        if isPaused || isBusy { waiting.append(work) } else { work() }
    }

    private func flush() {
        while !isPaused, !isBusy, !isDead, !waiting.isEmpty { waiting.removeFirst()() }
    }

    func submit(_ input: Load.Domain.Input) {
        whenFree { [self] in feed(.submit(input)) }
    }

    private func feed(_ input: LoopInput<Domain>) {
        guard !isDead, gaveUp == nil, loop != nil else { return }
        var actions: [LoopAction<Domain>] = []
        do throws(LogError) {
            try loop?.handle(input, at: local, actions: &actions)
        } catch {
            giveUp(error)
        }
        for action in actions { perform(action) }
        serveStore()
        watchReadiness()
    }

    private func giveUp(_ error: LogError) {
        endReadiness()
        if error.code == .misconfigured, isProjected {
            // Nobody sets it back here.
            world.violate("\(name) takes the projection for one that was set back: \(error)")
        }
        gaveUp = error
        world.note("\(name) gives up: \(error)")
        world.gaveUp(self, error)
        reader?.close()
        reader = nil
    }

    // MARK: Actions

    private func perform(_ action: LoopAction<Domain>) {
        switch action {
        case .append(let record, let token):
            world.appending(record, by: self)
            world.broker.append(record, by: link) { [weak self] result in
                self?.whenFree {
                    switch result {
                    case .success(let appended): self?.feed(.appended(token, appended))
                    case .failure: self?.feed(.failed(token))
                    }
                }
            }
        case .reply(let record):
            if let id = record.headers.first(where: { $0.name == HeaderName.causation }).flatMap({
                MessageID(String(decoding: $0.value, as: UTF8.self))
            }) {
                told.insert(id)
                world.tell(
                    Told(
                        process: name, command: id, data: record.value, time: world.scheduler.now, clock: world.broker.clock,
                        validEvents: world.events.events.count, projected: world.store.checkpoint?.position.head.sequence ?? 0))
            }
        case .follow(let partition, let offset):
            reader?.follow(partition, from: offset)
        case .unfollow(let partition): reader?.unfollow(partition)
        case .load(let request): load = request
        case .project(let batch): projection = batch
        case .happened(let event): happened.insert(event.envelope.sequence)
        case .wake(let instant): tick(at: (instant.milliseconds - clockOffset) * 1_000)
        }
    }

    private func tick(at time: Int64) {
        let time = max(time, world.scheduler.now)
        guard time < tickAt else { return }
        tickAt = time
        ticks += 1
        let own = ticks
        world.scheduler.after(time - world.scheduler.now) { [weak self] in
            guard let self, self.ticks == own else { return }
            self.tickAt = .max
            self.whenFree { self.feed(.tick) }
        }
    }

    /// Ticks and commits about once a second.
    private func keepTime() {
        world.scheduler.after(Int64.random(in: 900_000...1_100_000, using: &world.scheduler.random)) { [weak self] in
            guard let self, !self.isDead, self.gaveUp == nil else { return }
            if !self.isPaused, !self.isBusy {
                self.feed(.tick)
                self.commit()
                self.check()
            }
            self.keepTime()
        }
    }

    private func commit() {
        guard let commits = loop?.commits(), !commits.isEmpty else { return }
        world.commit(commits, by: name)
    }

    // MARK: The store

    /// Loads and projects like the driver, which is blocked meanwhile.
    private func serveStore() {
        guard !isBusy, !isDead else { return }
        if let batch = projection {
            callStore { [self] in
                guard let outcome = world.store.project(batch), !world.losesTransaction() else { return false }
                projection = nil
                world.note("\(name) projects up to \(batch.to.position.head.sequence): \(outcome)")
                isBusy = false
                feed(.projected(outcome))
                return true
            }
        } else if let request = load {
            callStore { [self] in
                guard let loaded = world.store.load(request) else { return false }
                load = nil
                isBusy = false
                feed(.loaded(loaded))
                return true
            }
        }
    }

    /// `attempt` fails while the store is away: then it is tried again, and other work goes on.
    private func callStore(_ attempt: @escaping () -> Bool) {
        isBusy = true
        world.scheduler.after(world.storeDelay()) { [weak self] in
            guard let self, !self.isDead else { return }
            self.whenResumed {
                guard self.loop != nil else {
                    self.isBusy = false
                    return
                }
                if attempt() {
                    self.check()
                } else {
                    self.isBusy = false
                    self.world.scheduler.after(200_000) { [weak self] in self?.whenFree { self?.serveStore() } }
                }
                self.flush()
            }
        }
    }

    private func whenResumed(_ work: @escaping () -> Void) {
        if isPaused { answered.append(work) } else { work() }
    }

    // MARK: For the audit

    private func seen(_ record: Record) {
        guard gaveUp == nil, loop != nil else { return }
        hasRead = max(hasRead, record.offset + 1)
        guard let index = world.events.byOffset[record.offset] else { return }
        let event = world.events.events[index]
        guard event.record.hash == record.hash else { return }
        if event.envelope.writer == name, event.envelope.sequence > loop?.projection.begin ?? 0 {
            dueHappenings.append(event.envelope.sequence)
        }
        guard let command = event.envelope.causation, event.envelope.replyTo != nil,
            let deadline = event.envelope.deadline, world.answer(to: event.envelope) != nil
        else { return }
        due.append((event.envelope.sequence, command, deadline))
    }

    /// Who decides has told what is due of what it has read and what has taken effect.
    private func check() {
        guard let loop, loop.isReady, gaveUp == nil else { return }
        dueHappenings.removeAll { sequence in
            guard sequence <= loop.settledSequence else { return false }
            if !happened.contains(sequence) { world.violate("\(name) did not say that its event \(sequence) took effect") }
            return true
        }
        let now = world.broker.clock
        due.removeAll { item in
            guard item.sequence <= loop.settledSequence, item.sequence <= loop.chain.head.sequence else { return false }
            if !told.contains(item.command), now <= item.deadline, !world.hasJumped {
                // It asks for the time first, and after a failure a little later.
                if loop.probe != nil || local < loop.mayAskAt { return false }
                world.violate("\(name) has read event \(item.sequence) and did not answer its command \(item.command)")
            }
            return true
        }
    }

    private func watchReadiness() {
        if loop?.isReady == true, gaveUp == nil {
            if readySince == nil { readySince = world.scheduler.now }
        } else {
            endReadiness()
        }
    }

    func endReadiness() {
        if let since = readySince { readyTimes.append(since..<max(world.scheduler.now, since + 1)) }
        readySince = nil
    }
}
