import CMicroHTTPD
import Glibc

/// Accepts connections on one thread, keeps their number within limits, and hands each to the event loop with the fewest.
///
/// The same thread reads out what clients still send on connections that end early: closing a socket with unread bytes
/// resets the connection, and with it goes the answer that says why.
final class Acceptor: Sendable {
    /// What becomes of an accepted socket.
    typealias Admit = @Sendable (_ socket: Int32, _ name: UnsafePointer<sockaddr_storage>, _ length: socklen_t) -> Void

    private struct State: Sendable {
        var isListening = true
        var isEnded = false
        /// Sockets that were closed for us by now and wait to be read out.
        var arriving: [Int32] = []
    }

    private struct Lingering {
        let socket: Int32
        let until: Int64
        var budget: Int
    }

    /// How long and how many bytes a client may go on sending.
    private static let lingerTime: Int64 = 2_000_000_000
    private static let lingerBytes = 1 << 20
    private static let lingerLimit = 256

    private let listener: ListeningSocket
    private let admit: Admit
    private let bell: Int32
    private let state = Lock(State())
    private let refused = Gate()
    private let ended = Gate()

    init(_ listener: ListeningSocket, admit: @escaping Admit) {
        self.listener = listener
        self.admit = admit
        bell = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        Thread.start(name: "http-accept") { [self] in run() }
    }

    deinit { close(bell) }

    /// Closes the listening socket: from now on connections are refused.
    func quiesce() {
        state.withLock { $0.isListening = false }
        ring()
    }

    /// Returns once nothing more is admitted after `quiesce`. Blocks.
    func waitUntilQuiet() { refused.wait() }

    /// Returns once the thread has ended and all its sockets are closed. Blocks.
    func end() {
        state.withLock { $0.isEnded = true }
        ring()
        ended.wait()
    }

    /// Takes over a socket whose sending side was shut down.
    func readOut(_ socket: Int32) {
        let isTaken = state.withLock { state in
            guard !state.isEnded, state.arriving.count < Acceptor.lingerLimit else { return false }
            state.arriving.append(socket)
            return true
        }
        if isTaken { ring() } else { close(socket) }
    }

    private func ring() {
        var one: UInt64 = 1
        write(bell, &one, 8)
    }

    private func run() {
        var lingering: [Lingering] = []
        var isOpen = true
        var pauseUntil: Int64 = 0
        let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 16_384, alignment: 16)
        defer { scratch.deallocate() }
        while true {
            let now = AlarmClock.now
            let (isListening, isEnded) = state.withLock { state in
                for socket in state.arriving {
                    if lingering.count < Acceptor.lingerLimit {
                        lingering.append(
                            Lingering(socket: socket, until: now + Acceptor.lingerTime, budget: Acceptor.lingerBytes))
                    } else {
                        close(socket)
                    }
                }
                state.arriving = []
                return (state.isListening, state.isEnded)
            }
            if isOpen, !isListening || isEnded {
                close(listener.descriptor)
                isOpen = false
                refused.open()
            }
            if isEnded { break }
            lingering.removeAll { entry in
                guard entry.until <= now else { return false }
                close(entry.socket)
                return true
            }

            let isAccepting = isOpen && pauseUntil <= now
            var watched = [pollfd(fd: bell, events: Int16(POLLIN), revents: 0)]
            if isAccepting { watched.append(pollfd(fd: listener.descriptor, events: Int16(POLLIN), revents: 0)) }
            let offset = watched.count
            watched += lingering.map { pollfd(fd: $0.socket, events: Int16(POLLIN), revents: 0) }
            let wake = lingering.map(\.until).min() ?? .max
            let next = isOpen && !isAccepting ? min(wake, pauseUntil) : wake
            poll(&watched, nfds_t(watched.count), next == .max ? -1 : Int32(min(60_000, (next - now) / 1_000_000 + 1)))

            if watched[0].revents != 0 {
                var count: UInt64 = 0
                read(bell, &count, 8)
            }
            for index in lingering.indices.reversed() where watched[offset + index].revents != 0 {
                let count = recv(lingering[index].socket, scratch.baseAddress, scratch.count, Int32(MSG_DONTWAIT))
                lingering[index].budget -= max(0, count)
                if count > 0 ? lingering[index].budget <= 0 : !(count < 0 && (errno == EAGAIN || errno == EINTR)) {
                    close(lingering[index].socket)
                    lingering.remove(at: index)
                }
            }
            if isAccepting, watched[1].revents != 0, !acceptWaiting() { pauseUntil = AlarmClock.now + 100_000_000 }
        }
        for entry in lingering { close(entry.socket) }
        ended.open()
    }

    /// Accepts until nobody waits. `false` when the process is out of descriptors or memory: better try again a little later.
    private func acceptWaiting() -> Bool {
        for _ in 0..<64 {
            var name = sockaddr_storage()
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            let socket = withUnsafeMutablePointer(to: &name) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { latchkey_accept(listener.descriptor, $0, &length) }
            }
            guard socket >= 0 else {
                switch errno {
                case EMFILE, ENFILE, ENOBUFS, ENOMEM: return false
                case EAGAIN: return true
                default: continue  // the client has gone already, or a signal came
                }
            }
            admit(socket, &name, length)
        }
        return true
    }
}

/// Closed until it is opened once.
final class Gate: @unchecked Sendable {
    // POSIX semaphores may be used from every thread, which is the reason for `@unchecked`.
    private let semaphore: UnsafeMutablePointer<sem_t> = .allocate(capacity: 1)

    init() { sem_init(semaphore, 0, 0) }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func open() { sem_post(semaphore) }

    /// Blocks until it is open.
    func wait() {
        while sem_wait(semaphore) != 0 {}
        sem_post(semaphore)
    }
}
