import Glibc

/// Accounts over all connections: signed up, in, and out of a forgotten password. Each measurement uses what those before it
/// made.
struct AccountRun {
    enum Step: String, CaseIterable {
        case register, login, refresh, me, reset
    }

    /// Where a connection is in what it does.
    private enum Phase {
        case idle, asking, forgot, awaitingCode, verifying, resetting
        /// It was told to come back.
        case paused(until: Int64)
    }

    private struct Place {
        var phase = Phase.idle
        var account: UInt32 = 0
        var started: Int64 = 0
        var tokens: AccountRequests.Tokens?
    }

    private let options: Options
    private let connections: [LoadConnection]
    private var places: [Place]
    private var watched: [pollfd]
    private var outbox: Outbox
    /// Of the next account, and of the next client address: each request comes from another one.
    private var next: UInt32
    /// Accounts that nobody is at, and how often their password was reset.
    private var accounts: ArraySlice<UInt32> = []
    private var resets: [UInt32: Int] = [:]
    /// Connections by the account whose code they wait for.
    private var waiting: [UInt32: Int] = [:]
    /// Codes that came before the answer to the request for them.
    private var early: [UInt32: [UInt8]] = [:]

    private var step = Step.register
    private var latencies = Histogram()
    private var statuses: [Int: Int] = [:]
    private var isOver = false

    /// More codes are sent to nobody within a quarter of an hour.
    private static let mostResets = 5
    private static let patience: Int64 = 12_000_000

    init(_ options: Options, _ outbox: Outbox) {
        self.options = options
        self.outbox = outbox
        next = options.first
        connections = LoadConnection.all(options)
        places = Array(repeating: Place(), count: connections.count)
        watched = (connections.map(\.descriptor) + [outbox.descriptor]).map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
    }

    // MARK: Measuring

    mutating func measureAll() {
        for step in Step.allCases {
            // Sessions to go on with; what they take is nobody's time.
            if step == .refresh { run(.login, for: options.seconds) { $0.tokens == nil } }
            print("ready \(step.rawValue)")
            fflush(nil)
            guard readLine() != nil else { exit(1) }
            let start = LoadRun.now
            let counted = run(step, for: options.seconds) { _ in true }
            report(counted, seconds: Double(min(LoadRun.now - start, Int64(options.seconds * 1_000_000))) / 1_000_000)
        }
    }

    /// Keeps those connections busy for so long, and waits for what is under way then. Returns what was done in time.
    @discardableResult
    private mutating func run(_ step: Step, for seconds: Double, where takesPart: (Place) -> Bool) -> Histogram {
        self.step = step
        (latencies, statuses, isOver) = (Histogram(), [:], false)
        let end = LoadRun.now + Int64(seconds * 1_000_000)
        for index in places.indices where takesPart(places[index]) { begin(index) }
        while isBusy, LoadRun.now < end { serve(until: end) }
        isOver = true
        let counted = latencies
        while isBusy, LoadRun.now < end + Self.patience { serve(until: end + Self.patience) }
        for index in places.indices { places[index].phase = .idle }
        (waiting, early) = ([:], [:])
        return counted
    }

    private var isBusy: Bool { places.contains { if case .idle = $0.phase { false } else { true } } }

    private func report(_ latencies: Histogram, seconds: Double) {
        let answers = statuses.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",")
        print(
            """
            {"name":"\(step.rawValue)","count":\(latencies.count),"seconds":\(seconds),"p50":\(latencies.quantile(0.5)),\
            "p99":\(latencies.quantile(0.99)),"answers":{\(answers)},"next":\(next),"undelivered":\(waiting.count)}
            """)
        fflush(nil)
    }

    // MARK: The event loop

    private mutating func serve(until end: Int64) {
        let timeout = min(max(0, end - LoadRun.now + 999) / 1_000, 50)
        if poll(&watched, nfds_t(watched.count), Int32(timeout)) > 0 {
            for index in watched.indices where watched[index].revents != 0 {
                if index < connections.count { receive(index) } else { readOutbox() }
            }
        }
        let now = LoadRun.now
        for index in places.indices {
            if case .paused(let until) = places[index].phase, until <= now || isOver { begin(index) }
        }
    }

    private mutating func take() -> UInt32 {
        defer { next += 1 }
        return next
    }

    private mutating func begin(_ index: Int) {
        places[index].phase = .idle
        guard !isOver else { return }
        places[index].started = LoadRun.now
        switch step {
        case .register:
            places[index].account = take()
            ask(index, .asking, AccountRequests.register(places[index].account))
        case .login:
            guard let account = accounts.popFirst() else { return }
            places[index].account = account
            ask(index, .asking, AccountRequests.logIn(account, from: take()))
        case .refresh:
            guard let tokens = places[index].tokens else { return }
            ask(index, .asking, AccountRequests.refresh(tokens.refresh, from: take()))
        case .me:
            guard let tokens = places[index].tokens else { return }
            ask(index, .asking, AccountRequests.me(tokens.access))
        case .reset:
            guard let account = accounts.popFirst() else { return }
            resets[account, default: 0] += 1
            // A code from before is not the one that counts.
            early[account] = nil
            places[index].account = account
            ask(index, .forgot, AccountRequests.forgot(account, from: take()))
        }
    }

    private mutating func ask(_ index: Int, _ phase: Phase, _ request: [UInt8]) {
        places[index].phase = phase
        if !connections[index].send(request) { LoadGenerator.fail("a connection broke") }
    }

    private mutating func receive(_ index: Int) {
        switch connections[index].receive() {
        case .incomplete: return
        case .ended: LoadGenerator.fail("a connection was closed")
        case .answer(let status):
            statuses[status, default: 0] += 1
            guard 200...299 ~= status else { return failed(index, status) }
            switch places[index].phase {
            case .forgot: awaitCode(index)
            case .verifying:
                guard let token = connections[index].text(behind: #""resetToken":""#) else { return failed(index, 0) }
                ask(index, .resetting, AccountRequests.reset(token, from: take()))
            default: done(index)
            }
        }
    }

    private mutating func done(_ index: Int) {
        latencies.add(LoadRun.now - places[index].started)
        if step != .me, step != .reset { places[index].tokens = AccountRequests.Tokens(in: connections[index]) }
        giveBack(index)
        begin(index)
    }

    private mutating func failed(_ index: Int, _ status: Int) {
        // Signing up may have failed because the account is there already; it is not used.
        if step != .register { giveBack(index) }
        if status == 503 { places[index].phase = .paused(until: LoadRun.now + 1_000_000) } else { begin(index) }
    }

    private mutating func giveBack(_ index: Int) {
        let account = places[index].account
        guard step != .refresh, step != .me, resets[account, default: 0] < Self.mostResets else { return }
        accounts.append(account)
    }

    private mutating func awaitCode(_ index: Int) {
        places[index].phase = .awaitingCode
        let account = places[index].account
        if let code = early.removeValue(forKey: account) { verify(index, code) } else { waiting[account] = index }
    }

    private mutating func verify(_ index: Int, _ code: [UInt8]) {
        ask(index, .verifying, AccountRequests.verify(places[index].account, code, from: take()))
    }

    private mutating func readOutbox() {
        var delivered: [(UInt32, [UInt8])] = []
        outbox.read { delivered.append(($0, $1)) }
        for (account, code) in delivered {
            if let index = waiting.removeValue(forKey: account) { verify(index, code) } else { early[account] = code }
        }
    }
}
