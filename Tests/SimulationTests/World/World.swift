import Crypto
import EventLogSimulated
import EventSchema
import SeededRandom

@testable import EventLog

/// A log, some processes, clients, and everything that goes wrong between them, from one seed.
final class World<Load: Workload> {
    let seed: UInt64
    let profile: Profile
    let scheduler: Scheduler
    let broker: SimulatedBroker
    /// What clients write with, and checks are made with.
    let authenticator: RecordAuthenticator
    /// The newest MAC key that was introduced to everybody.
    var macKey: UInt32 = 1
    let settings: LoopSettings
    let mutation: LoopMutation?
    let book = InputBook<Load.Domain.Input>()
    var load: Load
    var store: ProjectionMemory<Load.Domain>
    let own: TopicPartition
    let commands: TopicPartition?
    let upstream: TopicPartition?
    let group = "group"

    /// The valid events of the service, as they come to stand in the log.
    var events: ValidEvents
    var upstreamEvents: ValidEvents?
    var told: [Told] = []
    var violations: [String] = []
    var history: [String] = []
    let isTracing: Bool

    var processes: [SimulatedProcess<Load>?] = []
    /// All that ever ran.
    var everyone: [SimulatedProcess<Load>] = []
    var owner = 0
    var sent: [SentCommand] = []
    var requests = 0
    var isCalm = false
    /// Nobody asks for anything any more.
    var isOver = false
    var hasJumped = false
    var storeWasAway = false
    /// Where the log lost its end, and who had read further.
    var cut: Cut<Load>?
    var committed: [[TopicPartition: CommittedOffset]] = []
    /// When each own record came, in microseconds.
    var appendTimes: [Int64: Int64] = [:]
    var submissions: [Load.Domain.Input] = []
    var calmSince: Int64 = .max

    init(seed: UInt64, profile: Profile? = nil, mutation: LoopMutation? = nil, isTracing: Bool = false) {
        let profile = profile ?? Profile(seed: seed)
        self.seed = seed
        self.profile = profile
        self.mutation = mutation
        self.isTracing = isTracing
        scheduler = Scheduler(random: SeededGenerator(seed: seed))
        load = Load(random: scheduler.random.fork())
        var settings = load.settings
        settings.window = profile.window
        settings.refusalsPerEvent = profile.refusalsPerEvent
        settings.passedPerEvent = profile.passedPerEvent
        self.settings = settings
        authenticator = Self.authenticator.afresh()
        let description = LogDescription(id: Array("simulated".utf8), partitions: 1)
        broker = SimulatedBroker(description, scheduler: scheduler, start: Timestamp(milliseconds: 1_800_000_000_000))
        broker.faults = profile.network
        own = TopicPartition(settings.events, 0)
        commands = settings.inboxes.first { $0.kind == .commands }.map { TopicPartition($0, 0) }
        upstream = settings.inboxes.first { $0.kind == .events }.map { TopicPartition($0, 0) }
        events = ValidEvents(own, log: description.id, authenticator: authenticator)
        upstreamEvents = upstream.map { ValidEvents($0, log: description.id, authenticator: Self.authenticator.afresh()) }
        store = ProjectionMemory(domain: load.domain, compares: mutation != .projectsBlindly)
        broker.onAppend = { [unowned self] record in came(record) }
    }

    static var authenticator: RecordAuthenticator { simulatedAuthenticator }

    var isProjected: Bool { if case .projection = settings.storage { true } else { false } }

    // MARK: What is noted

    func note(_ text: @autoclosure () -> String) {
        guard isTracing else { return }
        history.append("\(scheduler.now / 1_000) ms: \(text())")
    }

    func violate(_ text: String) {
        note("VIOLATION: \(text)")
        if violations.count < 5 { violations.append("at \(scheduler.now / 1_000) ms: \(text)") }
    }

    private func came(_ record: Record) {
        if record.partition == own {
            appendTimes[record.offset] = scheduler.now
            let isValid = events.read(record)
            note("\(own)@\(record.offset) \(isValid ? "valid" : "void") \(describe(record))")
        } else if record.partition == upstream {
            upstreamEvents?.read(record)
            note("\(record.partition)@\(record.offset) \(describe(record))")
        } else {
            note("\(record.partition)@\(record.offset) \(describe(record))")
        }
    }

    private func describe(_ record: Record) -> String {
        let names = [
            HeaderName.type, HeaderName.id, HeaderName.causation, HeaderName.sequence, HeaderName.writer, HeaderName.speculation,
            HeaderName.inboxes, HeaderName.refused,
        ]
        return names.compactMap { name in record.text(name).map { "\(name.dropFirst(3))=\($0)" } }.joined(separator: " ")
    }

    func tell(_ reply: Told) {
        note("\(reply.process) tells \(reply.command): \(String(decoding: reply.data, as: UTF8.self))")
        told.append(reply)
    }

    func answer(to envelope: EventEnvelope) -> Answer? {
        (try? load.domain.decode(envelope.body)).flatMap { load.domain.answer(to: $0) }
    }

    func appending(_ record: OutgoingRecord, by process: SimulatedProcess<Load>) {
        note("\(process.name) sends an event")
        guard !hasJumped, let deadline = record.headers.first(where: { $0.name == HeaderName.deadline }),
            let text = Int64(String(decoding: deadline.value, as: UTF8.self)), isCommandDriven(record)
        else { return }
        // The milliseconds of two clocks do not begin at once.
        if broker.clock.milliseconds > text + 1 {
            violate("\(process.name) decided a command \(broker.clock.milliseconds - text) ms after its budget")
        }
    }

    private func isCommandDriven(_ record: OutgoingRecord) -> Bool {
        guard let id = record.headers.first(where: { $0.name == HeaderName.causation }) else { return false }
        let text = String(decoding: id.value, as: UTF8.self)
        return sent.contains { $0.id.text == text }
    }

    func commit(_ offsets: [TopicPartition: CommittedOffset], by name: String) {
        note("\(name) commits \(offsets.map { "\($0.key)=\($0.value.offset)" }.sorted().joined(separator: " "))")
        committed.append(offsets)
        broker.commit(offsets, by: group)
    }

    func storeDelay() -> Int64 {
        let isLong = !isCalm && scheduler.random.chance(profile.longTransactions)
        return Int64.random(in: 500...(isLong ? profile.longTransaction : 4_000), using: &scheduler.random)
    }

    /// Whether a transaction that was committed is not known to be.
    func losesTransaction() -> Bool { !isCalm && scheduler.random.chance(profile.lostTransactions) }

    // MARK: A run

    /// Lets the seed happen, and says what did not hold.
    func run() -> [String] {
        start()
        if profile.truncates {
            scheduler.run(until: profile.turbulence / 2)
            var audit = Audit(world: self)
            audit.check()
            loseEnd()
            scheduler.run(until: profile.turbulence)
        } else {
            scheduler.run(until: profile.turbulence)
        }
        calmDown()
        scheduler.run(until: scheduler.now + profile.calm)
        isOver = true
        scheduler.run(until: scheduler.now + 2_000_000)
        for process in everyone { process.endReadiness() }
        var audit = Audit(world: self)
        audit.checkEnd()
        return violations
    }
}

/// One for all seeds: making it is most of the work of a small world.
private let simulatedAuthenticator: RecordAuthenticator = {
    do {
        return try RecordAuthenticator(
            keys: Dictionary(
                uniqueKeysWithValues: (1...4).map { (UInt32($0), Secret(Array(repeating: UInt8(8 + $0), count: 32))) }))
    } catch {
        preconditionFailure("a key of 32 bytes is long enough")
    }
}()

/// Where a topic lost its end.
struct Cut<Load: Workload> {
    var partition: TopicPartition
    var offset: Int64
    /// Those that had read what is lost, or began where it was.
    var mustNotice: [SimulatedProcess<Load>]
    var time: Int64
}
