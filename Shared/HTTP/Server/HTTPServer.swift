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
        let certificate = try configuration.tls.map { tls throws(HTTPServerError) in try Certificate(tls) }
        let listener = try ListeningSocket(address: configuration.address, port: configuration.port)
        let core = ServerCore(application, configuration, certificate)
        for _ in 0..<max(1, configuration.threads) {
            guard core.addLoop() else {
                close(listener.descriptor)
                core.end()
                guard let tls = configuration.tls else { throw .noEventLoop }
                throw .unusableCertificate(certificateFile: tls.certificateFile, keyFile: tls.keyFile)
            }
        }
        core.serve(listener)
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
