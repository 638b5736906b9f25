import CMicroHTTPD
import Glibc
import Synchronization

/// What a running server shares between its event loops, the acceptor and whoever stops it.
final class ServerCore: Sendable {
    /// How many connections one event loop may have. libmicrohttpd 0.9.75 fetches 128 events at a time, and when it gets
    /// exactly that many it waits for more before it looks at them: then all of these clients wait for each other. So it
    /// never gets that many; there are more loops instead.
    static let connectionsPerLoop = 120
    /// How many bytes of a chunked body are read over before the connection is cut instead.
    static let overrun = 1 << 20

    let application: HTTPApplication
    let isSecure: Bool
    let headerLimit: Int
    // Nanoseconds.
    let headerTimeout: Int64
    let bodyTimeout: Int64
    let idleTimeout: Int64
    let writeTimeout: Int64
    private let connectionLimit: Int
    private let connectionLimitPerAddress: Int

    /// Requests whose line was read and whose answer is not yet sent.
    let active = Atomic<Int>(0)
    private let stopping = Atomic<Bool>(false)
    private let answeringNow = Atomic<Bool>(false)
    private let resuming = Atomic<Int>(0)

    fileprivate struct Table: Sendable {
        /// By socket: from acceptance to close.
        var admitted: [Int32: (address: IPAddress, peer: IPAddress, loop: Int)] = [:]
        var perAddress: [IPAddress: Int] = [:]
        var perLoop: [Int] = []
        var connections: [ObjectIdentifier: Connection] = [:]
        var loops: [EventLoop] = []
        var acceptor: Acceptor?
        var onIdle: (@Sendable () -> Void)?
    }

    private let table = Lock(Table())
    /// Room for the head as it comes in, the list of its fields, and the head of the answer; in bytes for each connection.
    private let loopMemory: Int
    private let certificate: Certificate?

    init(_ application: HTTPApplication, _ configuration: HTTPServer.Configuration, _ certificate: Certificate?) {
        self.application = application
        isSecure = configuration.tls != nil
        headerLimit = configuration.headerLimit
        headerTimeout = configuration.headerTimeout.nanoseconds
        bodyTimeout = configuration.bodyTimeout.nanoseconds
        idleTimeout = configuration.idleTimeout.nanoseconds
        writeTimeout = configuration.writeTimeout.nanoseconds
        connectionLimit = DescriptorLimit.makeRoom(for: configuration.connectionLimit)
        connectionLimitPerAddress = configuration.connectionLimitPerAddress
        loopMemory = configuration.headerLimit * 3 / 2 + 4_096
        self.certificate = certificate
    }

    /// The server is being stopped: connections end behind their answers.
    var isStopping: Bool { stopping.load(ordering: .relaxed) }
    /// The time to wait is over: nothing may be suspended any longer.
    var mustAnswerNow: Bool { answeringNow.load(ordering: .sequentiallyConsistent) }

    var connectionCount: Int { table.withLock { $0.connections.count } }

    // MARK: Connections

    /// Starts one more event loop. Called by one thread at a time: first by the starter, then by the acceptor.
    func addLoop() -> Bool {
        let loop = EventLoop(core: self, index: table.withLock { $0.loops.count })
        guard loop.start(memory: loopMemory, certificate) else { return false }
        table.withLock { table in
            table.loops.append(loop)
            table.perLoop.append(0)
        }
        return true
    }

    func serve(_ listener: ListeningSocket) {
        table.withLock { $0.acceptor = Acceptor(listener) { [self] in admit($0, $1, $2) } }
    }

    /// Hands a new connection to an event loop, or closes it where there are too many.
    private func admit(_ socket: Int32, _ name: UnsafePointer<sockaddr_storage>, _ length: socklen_t) {
        guard let peer = IPAddress(name) else {
            Glibc.close(socket)
            return
        }
        let address = peer.network
        let (isWelcome, isFull) = table.withLock { table in
            // A number that comes again was closed without a word: by the library, before the connection began.
            if table.admitted[socket] != nil { table.forget(socket) }
            let isWelcome =
                table.admitted.count < connectionLimit && table.perAddress[address, default: 0] < connectionLimitPerAddress
            return (isWelcome, table.perLoop.allSatisfy { $0 >= ServerCore.connectionsPerLoop })
        }
        guard isWelcome, !isFull || addLoop() else {
            Glibc.close(socket)
            return
        }
        let loop: EventLoop? = table.withLock { table in
            guard let index = table.perLoop.indices.min(by: { table.perLoop[$0] < table.perLoop[$1] }) else { return nil }
            table.admitted[socket] = (address, peer, index)
            table.perAddress[address, default: 0] += 1
            table.perLoop[index] += 1
            return table.loops[index]
        }
        guard let loop else {
            Glibc.close(socket)
            return
        }
        // It closes the socket itself where it fails.
        name.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = MHD_add_connection(loop.daemon, socket, $0, length) }
    }

    func connected(_ handle: OpaquePointer, socket: Int32, loop: Int) -> Connection {
        let peer = table.withLock { $0.admitted[socket]?.peer } ?? IPAddress(v4: 0)
        let connection = Connection(server: self, handle: handle, socket: socket, peer: peer, loop: loop)
        table.withLock { $0.connections[ObjectIdentifier(connection)] = connection }
        return connection
    }

    func remove(_ connection: Connection, socket: Int32, loop: Int) {
        table.withLock { table in
            table.connections[ObjectIdentifier(connection)] = nil
            table.forget(socket)
        }
    }

    func readOut(_ socket: Int32) {
        if let acceptor = table.withLock({ $0.acceptor }) { acceptor.readOut(socket) } else { Glibc.close(socket) }
    }

    // MARK: Requests

    func requestEnded() {
        guard active.subtract(1, ordering: .sequentiallyConsistent).newValue == 0, isStopping else { return }
        table.withLock { $0.onIdle }?()
    }

    func resume(_ handle: OpaquePointer) {
        // The library still touches its loop after the connection runs again: the loop may not end before that.
        resuming.add(1, ordering: .sequentiallyConsistent)
        MHD_resume_connection(handle)
        resuming.subtract(1, ordering: .sequentiallyConsistent)
    }

    // MARK: Stopping: refuse new connections, await, answer what is left, end

    func quiesce() {
        stopping.store(true, ordering: .sequentiallyConsistent)
        table.withLock { $0.acceptor }?.quiesce()
    }

    /// Waits until no request is in flight; at most until `due`.
    func drain(until due: Int64) async {
        let waiting = Waiting()
        table.withLock { $0.onIdle = { waiting.ring() } }
        AlarmClock.shared.add(waiting, at: due)
        if active.load(ordering: .sequentiallyConsistent) == 0 { waiting.ring() }
        await waiting.wait()
        AlarmClock.shared.remove(waiting)
        table.withLock { $0.onIdle = nil }
    }

    /// Answers what still waits for a handler.
    func abandonAll() {
        answeringNow.store(true, ordering: .sequentiallyConsistent)
        for connection in table.withLock({ Array($0.connections.values) }) { connection.abandon() }
    }

    /// Ends the event loops and the acceptor. Blocks until their threads are gone.
    func end() {
        let acceptor = table.withLock { $0.acceptor }
        acceptor?.waitUntilQuiet()
        while resuming.load(ordering: .sequentiallyConsistent) > 0 { sched_yield() }
        for loop in table.withLock({ $0.loops }) {
            MHD_stop_daemon(loop.daemon)
            loop.daemon = nil
        }
        table.withLock { table in
            table.loops = []
            table.acceptor = nil
        }
        acceptor?.end()
    }
}

extension ServerCore.Table {
    mutating func forget(_ socket: Int32) {
        guard let entry = admitted.removeValue(forKey: socket) else { return }
        perLoop[entry.loop] -= 1
        if let count = perAddress[entry.address] { perAddress[entry.address] = count > 1 ? count - 1 : nil }
    }
}

/// Waits for whoever rings first.
private final class Waiting: Alarm, @unchecked Sendable {
    private enum State: Sendable {
        case waiting(CheckedContinuation<Void, Never>?)
        case over
    }

    private let state = Lock(State.waiting(nil))

    func wait() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if case .over = state { return true }
                state = .waiting(continuation)
                return false
            }
            if isOver { continuation.resume() }
        }
    }

    override func ring() {
        let continuation: CheckedContinuation<Void, Never>? = state.withLock { state in
            defer { state = .over }
            if case .waiting(let continuation) = state { return continuation } else { return nil }
        }
        continuation?.resume()
    }
}
