import Glibc

/// The connections, and the event loop that drives them.
struct LoadRun {
    enum Step {
        case healthz, send, confirm, pair
    }

    private let options: Options
    private let connections: [LoadConnection]
    /// The connections, in their order, and the outbox.
    private var watched: [pollfd]
    private var outbox: Outbox?
    private var next: UInt32
    /// Codes that were delivered and not asked for yet.
    private var codes: [UInt32: [UInt8]] = [:]
    /// Connections by the code that they wait for.
    private var waiting: [UInt32: LoadConnection] = [:]
    /// Numbers that codes were asked for, successfully.
    private var sent: [UInt32] = []

    private var step = Step.healthz
    private var latencies = Histogram()
    /// Of pairs: from the request for a code to its answer, from there to the delivery.
    private var sending = Histogram()
    private var delivery = Histogram()
    private var statuses: [Int: Int] = [:]
    private var isOver = false

    /// How long deliveries are waited for once no more are asked for.
    private static let patience: Int64 = 10_000_000

    init(_ options: Options, _ outbox: Outbox?) {
        self.options = options
        self.outbox = outbox
        next = options.first
        connections = LoadConnection.all(options)
        watched = (connections.map(\.descriptor) + (outbox.map { [$0.descriptor] } ?? [])).map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
    }

    static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }

    // MARK: Measuring

    mutating func measure(_ name: String, _ step: Step) {
        print("ready \(name)")
        fflush(nil)
        guard readLine() != nil else { exit(1) }
        self.step = step
        (latencies, sending, delivery, statuses, isOver) = (Histogram(), Histogram(), Histogram(), [:], false)
        let start = Self.now
        for connection in connections { begin(connection) }
        let end = start + Int64(options.seconds * 1_000_000)
        while isBusy, Self.now < end { serve(until: end) }
        isOver = true
        let stopped = Self.now
        let counted = latencies
        while isBusy || isExpectingCodes, Self.now < stopped + Self.patience { serve(until: stopped + Self.patience) }
        report(name, counted, seconds: Double(stopped - start) / 1_000_000)
        for connection in connections { connection.state = .idle }
        waiting = [:]
    }

    private var isBusy: Bool { connections.contains { $0.state != .idle } }
    /// Those that were asked for belong to the measurement: what they cost is counted.
    private var isExpectingCodes: Bool { step == .send && codes.count < sent.count }

    private func report(_ name: String, _ latencies: Histogram, seconds: Double) {
        let answers = statuses.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",")
        print(
            """
            {"name":"\(name)","count":\(latencies.count),"seconds":\(seconds),"p50":\(latencies.quantile(0.5)),\
            "p99":\(latencies.quantile(0.99)),"answers":{\(answers)},"next":\(next),\
            "undelivered":\(step == .send ? sent.count - codes.count : waiting.count),\
            "sending":\(sending.quantile(0.5)),"delivery":\(delivery.quantile(0.5))}
            """)
        fflush(nil)
    }

    // MARK: The event loop

    private mutating func serve(until end: Int64) {
        let timeout = max(0, end - Self.now + 999) / 1_000
        var ready = poll(&watched, nfds_t(watched.count), Int32(min(timeout, 1_000)))
        for index in watched.indices where watched[index].revents != 0 {
            if index < connections.count { receive(connections[index]) } else { readOutbox() }
            ready -= 1
            if ready == 0 { return }
        }
    }

    private mutating func begin(_ connection: LoadConnection) {
        connection.state = .idle
        guard !isOver else { return }
        connection.isConfirming = false
        connection.started = Self.now
        switch step {
        case .healthz: send(connection, Requests.healthz)
        case .send, .pair:
            connection.number = next
            next += 1
            send(connection, Requests.send(connection.number))
        case .confirm:
            // Each code is good once; when there are none left, the measurement ends early.
            while let number = sent.popLast() {
                guard let code = codes.removeValue(forKey: number) else { continue }
                connection.number = number
                return send(connection, Requests.confirm(number, code))
            }
        }
    }

    private func send(_ connection: LoadConnection, _ request: [UInt8]) {
        if !connection.send(request) { LoadGenerator.fail("a connection broke") }
    }

    private mutating func receive(_ connection: LoadConnection) {
        switch connection.receive() {
        case .incomplete: return
        case .ended: LoadGenerator.fail("a connection was closed")
        case .answer(let status):
            statuses[status, default: 0] += 1
            if step == .pair, !connection.isConfirming, status == 200 { return awaitCode(connection) }
            if step == .send, status == 200 { sent.append(connection.number) }
            finish(connection)
        }
    }

    private mutating func finish(_ connection: LoadConnection) {
        latencies.add(Self.now - connection.started)
        begin(connection)
    }

    private mutating func awaitCode(_ connection: LoadConnection) {
        connection.state = .awaitingCode
        connection.answered = Self.now
        sending.add(connection.answered - connection.started)
        if let code = codes.removeValue(forKey: connection.number) {
            confirm(connection, code)
        } else {
            waiting[connection.number] = connection
        }
    }

    private mutating func confirm(_ connection: LoadConnection, _ code: [UInt8]) {
        delivery.add(Self.now - connection.answered)
        connection.isConfirming = true
        send(connection, Requests.confirm(connection.number, code))
    }

    private mutating func readOutbox() {
        var delivered: [(UInt32, [UInt8])] = []
        outbox?.read { delivered.append(($0, $1)) }
        for (number, code) in delivered {
            if let connection = waiting.removeValue(forKey: number) {
                confirm(connection, code)
            } else {
                codes[number] = code
            }
        }
    }
}
