internal import EventSchema

/// Decides what one partition of a service's inboxes leads to: a synchronous state machine that takes what happened and says
/// what to do. It knows no clock, no thread and no backend, and is driven by `LoopDriver`, or by a simulation.
///
/// It reads its service's own events to the end, takes inputs after the positions that the last of them names, decides each
/// on the *speculative* state (confirmed events and its own that are still on their way), appends without waiting, and acts
/// only on what it reads back valid. Any answer, a refusal too, waits until the head that it was decided on is confirmed.
/// When a foreign valid event appears, or an own one fails or is void, the speculation is dropped and its inputs are decided
/// again. So no fence, lease or lock is needed: whoever decides on outdated state writes void records.
public struct DecisionLoop<Domain: PartitionDomain>: Sendable {
    public let domain: Domain
    public let settings: LoopSettings
    public let partition: Int
    let own: TopicPartition
    let logID: [UInt8]
    let authenticator: RecordAuthenticator
    /// Names this process in its records.
    let writer: String

    // What the valid events say.
    var chain: ChainReader
    /// How far the inboxes had been read, and the time, of the head.
    var inboxes = InboxPositions()
    var lastTime = Timestamp(milliseconds: 0)
    var aggregates: [Domain.Key: Domain.Aggregate] = [:]
    /// How long events were seen to come.
    var age = ChainAge()
    /// Keys of events, in their order: what may be forgotten after the window.
    var touched = Queue<(age: Interval, key: Domain.Key)>()
    var memory = CommandMemory()
    /// Where the group's committed offset says that reading the commands may go on.
    var resumption: CommandPosition?
    /// The head that a committed position or a checkpoint says existed: a log that ends before it has lost data.
    var promised: ChainHead?

    // Ownership.
    var isOwner = false
    /// Own events must be read up to here before the first decision; `.max` while that is not known.
    var endAtTakeOver: Int64 = 0
    var readers: [Topic: Inbox] = [:]
    /// Inboxes that are not followed while so many inputs are open.
    var paused: Set<Topic> = []
    var clock = LogClock()
    /// The append on its way whose acknowledgement tells the log's clock.
    var probe: AppendToken?
    /// After one that failed the time is asked for again a little later.
    var mayAskAt = LocalInstant(milliseconds: .min)
    /// When appends were sent that are not acknowledged.
    var sent: [AppendToken: LocalInstant] = [:]

    // Speculation.
    var speculation: UInt64
    var speculative: Speculation<Domain>
    /// Inputs that were read and not yet decided, in their order.
    var open = Queue<OpenInput<Domain.Input>>()
    var window: Int
    var blockedUntil = LocalInstant(milliseconds: .min)
    /// The longest wait before the next decision while another owner is about: it doubles with each event of the other one, and
    /// halves with each own one, so that soon one of them waits long and the other hardly at all.
    var wait: Interval = .milliseconds(1)
    var contendedUntil = LocalInstant(milliseconds: .min)
    /// The input before whose decision was waited last.
    var waitedFor: (topic: Topic, next: Int64)?
    var random: any RandomNumberGenerator & Sendable
    /// A rule that is broken on purpose, to prove that simulations would notice; always `nil` in a service.
    var mutation: LoopMutation? { didSet { chain.mutation = mutation } }

    var refusals = PendingRefusals()
    /// Answers that events earned, until they may be told.
    var answers = Queue<EarnedAnswer>()

    // Projection.
    var projection = ProjectionState<Domain>()

    // Where a later start may begin to read.
    var milestones = Queue<Milestone>()
    var resumptionPoint: ChainPosition?
    public var counters = LoopCounters()
    /// The event that could not be read, and that is why the partition must be given up.
    var poison: PoisonedPlace?

    /// A loop for one partition. `start` is where reading of the own events begins; for a projection the checkpoint's
    /// `answersFrom`, with the checkpoint given.
    public init(
        _ domain: Domain, settings: LoopSettings, partition: Int, log: [UInt8], authenticator: RecordAuthenticator,
        writer: String,
        start: ChainPosition?, checkpoint: Checkpoint? = nil, random: any RandomNumberGenerator & Sendable
    ) {
        self.domain = domain
        self.settings = settings
        self.partition = partition
        own = TopicPartition(settings.events, partition)
        logID = log
        self.authenticator = authenticator
        self.writer = writer
        chain = ChainReader(own, at: start, log: log, authenticator: authenticator)
        speculative = Speculation(head: chain.head)
        window = settings.window
        self.random = random
        // A later loop of this process must not take what an earlier one left in the log, or what became of it, for its own.
        speculation = UInt64(UInt32.random(in: .min ... .max, using: &self.random)) << 24
        projection.checkpoint = checkpoint
        projection.begin = projection.sequence
        if let head = checkpoint?.position.head, head.sequence > chain.head.sequence { promised = head }
    }

    /// Where reading of the own events starts.
    public var start: Int64 { chain.position.start }

    /// Takes one input and adds what is to be done. `local` is this process's steady clock. Throws when the partition must
    /// be given up: the log lost data, or says something that this version cannot read.
    public mutating func handle(_ input: LoopInput<Domain>, at local: LocalInstant, actions: inout [LoopAction<Domain>])
        throws(LogError)
    {
        switch input {
        case .tookOver(let end, let committed): try takeOver(end: end, committed: committed)
        case .released: release(actions: &actions)
        case .record(let record): try read(record, at: local, actions: &actions)
        case .reachedEnd(let partition, let end): try reachedEnd(partition, end: end, actions: &actions)
        case .outOfRange(let partition, let begin, let end): try outOfRange(partition, begin: begin, end: end, actions: &actions)
        case .interrupted(let partition): interrupted(partition, actions: &actions)
        case .appended(let token, let appended):
            // What was sent before a release says nothing: the clock may have been set since.
            if let sentAt = sent.removeValue(forKey: token) { clock.learn(appended.time, sent: sentAt, at: local) }
            if token == probe { probe = nil }
        case .failed(let token): failed(token, at: local)
        case .loaded(let batch): loaded(batch)
        case .projected(let outcome): try projected(outcome, actions: &actions)
        case .submit(let input):
            if isOwner { open.append(OpenInput(work: .input(input), source: .submission, message: nil, readAt: local)) }
        case .tick:
            resumeReading(actions: &actions)
            dropWhatIsLost(at: local)
        }
        try proceed(at: local, actions: &actions)
    }

    /// Everything that may have become possible.
    private mutating func proceed(at local: LocalInstant, actions: inout [LoopAction<Domain>]) throws(LogError) {
        if isOwner {
            if isCaughtUp, let promised {
                throw LogError(
                    .truncated,
                    "\(own) ends before the event \(promised.sequence), to which a position was committed: the log has lost data")
            }
            if isCaughtUp, !authenticator.holds(chain.head.key) {
                throw LogError(.unreadable, "\(own) goes on under MAC key \(chain.head.key), which this service does not hold")
            }
            startReading(at: local, actions: &actions)
            decideOpen(at: local, actions: &actions)
            project(at: local, actions: &actions)
            if mayResumeReading { actions.append(.wake(local)) }
        }
        tell(at: local, actions: &actions)
        if isOwner, blockedUntil > local, !open.isEmpty { actions.append(.wake(blockedUntil)) }
        if let first = speculative.pending.first { actions.append(.wake(first.sent + settings.longestReadingBack)) }
    }

    /// Whether everything before this has taken effect where decisions and readers look for it.
    var settledSequence: Int64 {
        switch settings.storage {
        case .memory: chain.head.sequence
        case .projection: mutation == .answersBeforeProjecting ? chain.head.sequence : projection.sequence
        }
    }

    var isProjected: Bool {
        if case .projection = settings.storage { true } else { false }
    }

    /// Whether own events were read up to where they ended when this instance took over.
    public var isCaughtUp: Bool { hasRead(to: endAtTakeOver) }

    /// Whether all own events before this offset were read.
    func hasRead(to end: Int64) -> Bool { !chain.isRecognising && chain.position.offset >= end }

    /// Whether decisions are made: everything before them was read, and the log's clock is known.
    public var isReady: Bool { isOwner && isCaughtUp && clock.isKnown }

    public var position: ChainPosition { chain.position }

    /// An own event that was read as if it counted, and is skipped: the partition must be read again.
    var late: SkippedEvent? { chain.late.first }

    var status: PartitionStatus {
        var status = PartitionStatus()
        status.counters = counters
        status.macKey = chain.head.key
        status.settledSequence = settledSequence
        if isOwner, isCaughtUp {
            let isCertain = speculative.pending.isEmpty && speculative.decided.isEmpty
            status.inboxes = isCertain ? speculative.inboxes : inboxes
        }
        status.open = open.count
        return status
    }

    public var isOwned: Bool { isOwner }
    /// How many aggregates, remembered commands and open inputs are held.
    public var sizes: (aggregates: Int, commands: Int, open: Int) { (aggregates.count, memory.count, open.count) }
}

/// What was decided and not yet read back.
struct Speculation<Domain: PartitionDomain>: Sendable {
    /// The head that the next event will name.
    var head: ChainHead
    var inboxes = InboxPositions()
    var time = Timestamp(milliseconds: 0)
    /// Aggregates that pending events changed, with the last of those events.
    var aggregates: [Domain.Key: (aggregate: Domain.Aggregate, sequence: Int64)] = [:]
    var pending = Queue<PendingEvent<Domain>>()
    /// Inputs that were decided, until their outcome is certain and told.
    var decided = Queue<DecidedInput<Domain.Input>>()
    /// Commands that led to pending events.
    var commands: [MessageID: CommandAnswer] = [:]
    /// Whether another owner that reads the same inboxes could have decided otherwise since the last event: an input was
    /// dropped because of the time, or came from one of several inboxes, or from none.
    var isUndetermined = false
    /// Whether somebody waits for an event that passes a refused command.
    var owesEvent = false
    /// Inputs since the last event.
    var passed = 0

    init(head: ChainHead) { self.head = head }
}

struct PendingEvent<Domain: PartitionDomain>: Sendable {
    var made: MadeEvent
    /// `nil` for events of the log itself.
    var event: Domain.Event?
    var key: Domain.Key?
    var command: MessageID?
    var sent: LocalInstant

    var sequence: Int64 { made.envelope.sequence }
    var hash: [UInt8] { made.hash }
}

/// An input in the order of its inbox.
struct OpenInput<Input: Sendable>: Sendable {
    enum Work: Sendable {
        case input(Input)
        /// A command has come again at another service, which leaves the answer to this one.
        case tell(Answer)
        /// Nothing to decide, but the inbox has been read past it.
        case skip
    }

    enum Source: Sendable {
        case command(Topic, CommandPosition)
        case event(Topic, ChainPosition)
        case submission

        /// Whether the input lies behind what was read of its inbox. Of another service's events the chain decides that: void
        /// records may be lost, and others come to stand in their place.
        func lies(behind inboxes: InboxPositions) -> Bool {
            switch self {
            case .command(let topic, let position): return position.offset > inboxes.commands[topic]?.offset ?? 0
            case .event(let topic, let position):
                guard let known = inboxes.events[topic] else { return true }
                return (position.head.sequence, position.offset) > (known.head.sequence, known.offset)
            case .submission: return true
            }
        }

        /// Where the input stands: the offset before the position behind it.
        var place: (topic: Topic, next: Int64)? {
            switch self {
            case .command(let topic, let position): (topic, position.offset)
            case .event(let topic, let position): (topic, position.offset)
            case .submission: nil
            }
        }
    }

    var work: Work
    var source: Source
    var message: InboxMessage?
    var readAt: LocalInstant
}

struct DecidedInput<Input: Sendable>: Sendable {
    enum Outcome: Sendable {
        /// Led to the event with this sequence.
        case event
        /// Is told this when the sequence is settled.
        case answer(Answer)
        /// Tells nobody.
        case nothing
    }

    var input: OpenInput<Input>
    /// What must be settled before the outcome is certain.
    var sequence: Int64
    var outcome: Outcome
    /// The number of its refusal, if it is one that an event must name.
    var refusal: Int?
}

struct EarnedAnswer: Sendable {
    var sequence: Int64
    /// The chain's age when it was earned.
    var age: Interval
    /// When what earned it was read.
    var readAt: LocalInstant
    var replyTo: ReplyAddress
    var deadline: Timestamp
    var answer: Answer
    var causation: MessageID
    var traceParent: String?
}

struct Milestone: Sendable {
    var age: Interval
    var position: ChainPosition
}

struct ProjectionState<Domain: PartitionDomain>: Sendable {
    enum Phase: Sendable {
        case idle
        case loading(Int)
        /// So many inputs of the batch are still to be decided.
        case deciding(Int)
    }

    var checkpoint: Checkpoint?
    var phase = Phase.idle
    var events: [ConfirmedEvent<Domain.Event>] = []
    /// When they are projected, whatever is still on its way.
    var due = LocalInstant(milliseconds: .min)
    /// Everything up to this event was projected before the loop was made.
    var begin: Int64 = 0
    /// How many of them are being projected, and the checkpoint behind those.
    var inFlight: Int?
    var next: Checkpoint?
    /// The state that the load returns is outdated already.
    var isStale = false

    /// Everything up to this event is projected.
    var sequence: Int64 { checkpoint?.position.head.sequence ?? 0 }
}
