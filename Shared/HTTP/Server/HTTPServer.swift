import CMicroHTTPD
import Glibc
public import Runtime

/// Serves an application over HTTP/1.1, optionally over TLS.
public final class HTTPServer: Component {
    private enum State: Sendable {
        case new
        case starting
        case running(ServerCore, port: UInt16)
        case stopping
        case stopped
    }

    public let application: HTTPApplication
    public let configuration: Configuration
    private let state = Lock(State.new)

    public init(_ application: HTTPApplication, _ configuration: Configuration = Configuration()) {
        self.application = application
        self.configuration = configuration
    }

    public static var availableProcessors: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

    public var name: String { "http" }
    public var drainDeadline: Duration { configuration.drainDeadline + .seconds(2) }

    /// The port that is listened on, while it is.
    public var port: UInt16? {
        state.withLock { state in
            if case .running(_, let port) = state { port } else { nil }
        }
    }

    /// Open connections, idle ones included.
    public var connectionCount: Int {
        let core: ServerCore? = state.withLock { state in
            if case .running(let core, _) = state { core } else { nil }
        }
        return core?.connectionCount ?? 0
    }

    /// Listens and serves from now on. Returns the port.
    @discardableResult
    public func start() throws(HTTPServerError) -> UInt16 {
        let isNew = state.withLock { state in
            guard case .new = state else { return false }
            state = .starting
            return true
        }
        guard isNew else { throw .alreadyStarted }
        do {
            let (core, port) = try makeCore()
            state.withLock { $0 = .running(core, port: port) }
            return port
        } catch {
            state.withLock { $0 = .new }
            throw error
        }
    }

    private func makeCore() throws(HTTPServerError) -> (ServerCore, port: UInt16) {
        let certificate = try configuration.tls.map { tls throws(HTTPServerError) in try pem(tls.certificateFile) }
        let key = try configuration.tls.map { tls throws(HTTPServerError) in try pem(tls.keyFile) }
        let listener = try ListeningSocket(address: configuration.address, port: configuration.port)
        let core = ServerCore(application, configuration)
        var loops: [EventLoop] = []
        for index in 0..<max(1, configuration.threads) {
            let loop = EventLoop(core: core, index: index)
            // Room for the head as it comes in, the list of its fields, and the head of the answer.
            guard loop.start(memory: configuration.headerLimit * 3 / 2 + 4_096, certificate: certificate, key: key) else {
                close(listener.descriptor)
                for loop in loops { MHD_stop_daemon(loop.daemon) }
                guard let tls = configuration.tls else { throw .noEventLoop }
                throw .unusableCertificate(certificateFile: tls.certificateFile, keyFile: tls.keyFile)
            }
            loops.append(loop)
        }
        core.serve(listener, loops)
        return (core, listener.port)
    }

    /// Refuses new connections, waits for requests in flight until `deadline` has passed, answers those left with the
    /// application's 503, and ends. Does nothing if the server does not run.
    public func stop(within deadline: Duration) async {
        let core: ServerCore? = state.withLock { state in
            guard case .running(let core, _) = state else { return nil }
            state = .stopping
            return core
        }
        guard let core else { return }
        core.quiesce()
        await core.drain(until: AlarmClock.now + deadline.nanoseconds)
        core.abandonAll()
        // What was just answered still has to be written.
        await core.drain(until: AlarmClock.now + 1_000_000_000)
        await withCheckedContinuation { continuation in
            Thread.start(name: "http-stop") {
                core.end()
                continuation.resume()
            }
        }
        state.withLock { $0 = .stopped }
    }

    /// Serves until a graceful shutdown is asked of it or its task is cancelled.
    public func run() async throws {
        if port == nil { try start() }
        await gracefulShutdown()
        await stop(within: Task.isCancelled ? .zero : configuration.drainDeadline)
    }
}

/// The text of a PEM file, with the NUL that C expects.
private func pem(_ path: String) throws(HTTPServerError) -> [UInt8] {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw .unreadableFile(path: path, reason: String(cString: strerror(errno))) }
    defer { close(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16_384)
    while bytes.count < 1 << 20 {
        let count = read(file, &buffer, buffer.count)
        if count < 0, errno == EINTR { continue }
        guard count >= 0 else { throw .unreadableFile(path: path, reason: String(cString: strerror(errno))) }
        guard count > 0 else { break }
        bytes += buffer[..<count]
    }
    return bytes + [0]
}
