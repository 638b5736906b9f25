internal import Crypto
internal import EventLog
internal import EventSchema
internal import Postgres
internal import Runtime
internal import Sealing

/// One connection of the check workers to the log, on their thread: reads, sends, commits. Hashing alone is done elsewhere.
struct CheckSession {
    private let runner: CheckRunner
    private let consumer: any LogConsumer
    private let producer: any LogProducer
    private let logID: [UInt8]
    private let followUp: FollowUp
    private let pool: BlockingPool
    private let database: PostgresSession
    private let mail = Mailbox<CheckMail>()
    /// What passwords were hashed for.
    private let hashed = Gathering<HashedCheck>(patience: .milliseconds(100))

    private var checks: [Int: OpenWork<Int64>] = [:]
    private var resets: [Int: ResetReader] = [:]
    private var commitAt = ContinuousClock.now
    /// What the log did not take, and when it is sent again.
    private var unsent: [(request: CheckRequest, record: OutgoingRecord)] = []
    private var resendAt = ContinuousClock.now
    private var isDatabaseAway = false

    /// Verification's events, read for consumed reset tokens.
    private struct ResetReader {
        var chain: ChainReader
        var open: OpenWork<ChainPosition>
    }

    /// More than can be hashed within a budget: what waits behind it would wait in vain.
    private static let mostWaiting = 2_048

    init(_ runner: CheckRunner) throws(LogError) {
        let description = try runner.log.describe()
        let consumer = try runner.log.makeConsumer(client: "identity-checks", group: CheckRunner.group)
        do throws(LogError) {
            producer = runner.time.learning(from: try runner.log.makeProducer(client: "identity-checks"))
        } catch {
            consumer.close()
            throw error
        }
        self.runner = runner
        self.consumer = consumer
        logID = description.id
        followUp = FollowUp(authenticator: runner.authenticator, partitions: description.partitions)
        pool = BlockingPool(name: "hashing", threads: runner.threads)
        database = PostgresSession(runner.database.goingByKeys)
    }

    mutating func run(until stop: StopFlag) throws(LogError) {
        while !stop.isRaised {
            try takeMail()
            commitIfDue()
            runner.metrics.waiting.set(pool.waiting)
            // Not to poll is what tells the log that this instance is busy.
            guard pool.waiting < Self.mostWaiting else {
                try takeMail(within: .milliseconds(20))
                continue
            }
            var requests: [CheckRequest] = []
            for event in try consumer.poll(timeout: .milliseconds(20)) { try take(event, into: &requests) }
            try work(on: requests, until: stop)
        }
        try finish()
    }

    /// Lets go of what is open: another instance takes it up.
    func close() {
        pool.close()
        sending.send(hashed.release(waiting: 0))
        producer.flush(within: .seconds(2))
        producer.close()
        consumer.close()
    }

    /// Waits for what is being hashed, for as long as a shutdown may take.
    private mutating func finish() throws(LogError) {
        let deadline = ContinuousClock.now + .seconds(4)
        while isBusy, ContinuousClock.now < deadline {
            try takeMail(within: .milliseconds(20))
        }
        commitAt = .now
        commitIfDue()
    }

    private var isBusy: Bool { checks.values.contains { $0.count > 0 } || resets.values.contains { $0.open.count > 0 } }

    // MARK: Reading

    private mutating func take(_ event: LogEvent, into requests: inout [CheckRequest]) throws(LogError) {
        switch event {
        case .assigned(let partitions): try begin(partitions)
        case .revoked(let partitions):
            for partition in partitions {
                checks[partition] = nil
                resets[partition] = nil
                consumer.unfollow(TopicPartition(.verificationEvents, partition))
            }
        case .records(let partition, let records):
            for record in records { try take(record, of: partition, into: &requests) }
        case .reachedEnd(let partition, let end):
            if partition.topic == .verificationEvents { try resets[partition.partition]?.chain.reachedEnd(end) }
        case .outOfRange(let partition, let begin, let end):
            guard partition.topic == .identityChecks else {
                throw LogError(.truncated, "\(partition) holds \(begin)..<\(end) only: the log has lost data")
            }
            // Retention has removed them, or the topic was made anew; nobody waits any more.
            checks[partition.partition] = OpenWork(at: begin)
            consumer.follow(partition, from: begin)
        case .interrupted(let partition):
            if partition.topic == .identityChecks {
                if let next = checks[partition.partition]?.read { consumer.follow(partition, from: next) }
            } else if var reader = resets[partition.partition] {
                reader.chain.interrupted()
                resets[partition.partition] = reader
                consumer.follow(partition, from: reader.chain.position.start)
            }
        }
    }

    private mutating func begin(_ partitions: [Int]) throws(LogError) {
        let committed = try consumer.committed(
            partitions.flatMap { [TopicPartition(.identityChecks, $0), TopicPartition(.verificationEvents, $0)] })
        for partition in partitions {
            let own = TopicPartition(.identityChecks, partition)
            let bounds = try consumer.bounds(of: own)
            let next = committed[own].map { $0.offset.clamped(to: bounds) } ?? bounds.lowerBound
            checks[partition] = OpenWork(at: next)
            consumer.follow(own, from: next)

            let events = TopicPartition(.verificationEvents, partition)
            // Without a position everything is read, which costs time and changes nothing: what was done is done.
            let position = committed[events].flatMap { ChainPosition(encoded: $0.metadata) }
            let chain = ChainReader(events, at: position, log: logID, authenticator: runner.authenticator)
            resets[partition] = ResetReader(chain: chain, open: OpenWork(at: chain.position))
            consumer.follow(events, from: chain.position.start)
        }
    }

    private mutating func take(
        _ record: Record, of partition: TopicPartition, into requests: inout [CheckRequest]
    ) throws(LogError) {
        switch partition.topic {
        case .identityChecks:
            guard let next = checks[partition.partition]?.read, record.offset >= next else { return }
            let request = check(in: record)
            checks[partition.partition]?.take(record.offset, next: record.offset + 1, isWork: request != nil)
            if let request { requests.append(request) } else { runner.metrics.malformed.increment() }
        default:
            guard let step = try resets[partition.partition]?.chain.read(record) else { return }
            var request: CheckRequest?
            switch step {
            case .known: return
            case .void: break
            case .valid(let envelope) where envelope.skipped != nil: break
            case .valid(let envelope): request = try CheckRequest(event: InboxMessage(event: envelope), received: .now)
            }
            if let position = resets[partition.partition]?.chain.position {
                resets[partition.partition]?.open.take(record.offset, next: position, isWork: request != nil)
            }
            if let request { requests.append(request) }
        }
    }

    private func check(in record: Record) -> CheckRequest? {
        guard runner.authenticator.accepts(record), let message = InboxMessage(command: record) else {
            return nil
        }
        return CheckRequest(check: message, received: .now)
    }

    // MARK: Working

    /// Reads what the requests need, answers those that only read, and hands the others to the threads that hash.
    private mutating func work(on taken: [CheckRequest], until stop: StopFlag) throws(LogError) {
        var requests = taken
        if requests.contains(where: { $0.mayBeOver(by: runner.time) }) { askTime() }
        while !requests.isEmpty, !stop.isRaised {
            requests = requests.filter { request in
                guard request.isOver(request.now(by: runner.time)) else { return true }
                sending.drop(request)
                return false
            }
            guard let records = look(up: requests) else {
                // Nothing else can be done meanwhile.
                try takeMail(within: .milliseconds(100))
                continue
            }
            for request in requests { perform(request, with: records) }
            return
        }
    }

    /// What it says is learnt from the acknowledgement. Where none comes, nobody is too late.
    private func askTime() {
        let probe = OutgoingRecord.probe(of: TopicPartition(.replies, 0), by: .identity, runner.authenticator)
        _ = try? producer.append(probe, within: .seconds(1))
    }

    private mutating func look(up requests: [CheckRequest]) -> AccountDirectory.Records? {
        if requests.isEmpty { return AccountDirectory.Records() }
        var wanted = AccountDirectory.Request()
        for request in requests { request.note(in: &wanted) }
        do throws(PostgresError) {
            let records = try runner.directory.look(up: wanted, at: runner.time.now, over: try database.connection())
            if isDatabaseAway { runner.logger.notice("accounts can be read again") }
            isDatabaseAway = false
            return records
        } catch {
            if !isDatabaseAway { runner.logger.warning("accounts cannot be read", ["reason": .public(error.description)]) }
            isDatabaseAway = true
            return nil
        }
    }

    private func perform(_ request: CheckRequest, with records: AccountDirectory.Records) {
        runner.metrics.taken.with(request.message.type).increment()
        guard runner.work.isSlow(request, with: records) else {
            return sending.send(runner.work.perform(request, with: records), for: request)
        }
        Task { [pool, runner, sending, hashed] in
            // It ends early only when the session does.
            try? await pool.run {
                guard !request.isOver(request.now(by: runner.time)) else { return sending.drop(request) }
                let start = ContinuousClock.now
                let outcome = runner.work.perform(request, with: records)
                runner.metrics.hashing.observe(ContinuousClock.now - start)
                sending.send(hashed.add(HashedCheck(request: request, outcome: outcome), waiting: pool.waiting))
            }
        }
    }

    private var sending: Sending { Sending(runner: runner, producer: producer, followUp: followUp, mail: mail) }

    // MARK: Mail and positions

    private mutating func takeMail(within timeout: Duration = .zero) throws(LogError) {
        sending.send(hashed.release(waiting: pool.waiting))
        for message in mail.receive(within: timeout) {
            switch message {
            case .done(let partition, let offset):
                if partition.topic == .identityChecks {
                    checks[partition.partition]?.finish(offset)
                } else {
                    resets[partition.partition]?.open.finish(offset)
                }
            case .failed(let request, let record, let error):
                guard error.code != .closed else { throw error }
                // It can never be appended, so nobody is helped by trying.
                guard error.code != .rejected else {
                    sending.drop(request)
                    continue
                }
                if unsent.isEmpty { resendAt = .now + .milliseconds(200) }
                unsent.append((request, record))
            }
        }
        guard !unsent.isEmpty, resendAt <= .now else { return }
        let again = unsent
        unsent = []
        for (request, record) in again {
            if request.isOver(request.now(by: runner.time)) {
                sending.drop(request)
            } else {
                sending.append(record, for: request)
            }
        }
    }

    private mutating func commitIfDue() {
        let now = ContinuousClock.now
        guard now >= commitAt else { return }
        commitAt = now + .seconds(1)
        var commits: [TopicPartition: CommittedOffset] = [:]
        for (partition, open) in checks {
            commits[TopicPartition(.identityChecks, partition)] = CommittedOffset(offset: open.committable, metadata: "")
        }
        for (partition, reader) in resets {
            let position = reader.open.committable
            commits[TopicPartition(.verificationEvents, partition)] = CommittedOffset(
                offset: position.offset, metadata: position.encoded)
        }
        if commits.isEmpty { return }
        consumer.commit(commits)
        runner.note(commits.mapValues(\.offset))
    }
}

private struct HashedCheck: Sendable {
    var request: CheckRequest
    var outcome: CheckWork.Outcome
}

/// Sends what a check leads to, from any thread.
private struct Sending: Sendable {
    let runner: CheckRunner
    let producer: any LogProducer
    let followUp: FollowUp
    let mail: Mailbox<CheckMail>

    func send(_ outcome: CheckWork.Outcome, for request: CheckRequest) {
        switch outcome {
        case .command(let command, let key):
            let remaining = request.remaining(request.now(by: runner.time))
            if let remaining, remaining <= .zero { return drop(request) }
            append(followUp.record(command, to: key, for: request, remaining: remaining), for: request)
        case .reply(let reply):
            guard let record = followUp.record(reply, for: request) else { return done(request) }
            append(record, for: request)
        }
    }

    func send(_ checks: [HashedCheck]) {
        for check in checks { send(check.outcome, for: check.request) }
    }

    func append(_ record: OutgoingRecord, for request: CheckRequest) {
        producer.append(record) { [self] result in
            switch result {
            case .success: done(request)
            case .failure(let error): mail.send(.failed(request, record, error))
            }
        }
    }

    func drop(_ request: CheckRequest) {
        runner.metrics.dropped.increment()
        done(request)
    }

    private func done(_ request: CheckRequest) {
        mail.send(.done(request.message.partition, offset: request.message.offset))
    }
}

extension Int64 {
    fileprivate func clamped(to bounds: Range<Int64>) -> Int64 {
        Swift.min(Swift.max(self, bounds.lowerBound), bounds.upperBound)
    }
}
