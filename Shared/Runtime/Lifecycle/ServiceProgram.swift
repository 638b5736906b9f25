@preconcurrency import Glibc

/// What a service is built from, beside its configuration.
public struct ServiceContext: Sendable {
    public let logger: Logger
    public let metrics: Metrics
    public let readiness: Readiness

    public init(logger: Logger, metrics: Metrics = Metrics(), readiness: Readiness = Readiness()) {
        self.logger = logger
        self.metrics = metrics
        self.readiness = readiness
    }
}

/// A subcommand beside `run`.
public struct Subcommand<Configuration: ServiceConfiguration>: Sendable {
    public let name: String
    public let summary: String
    /// Required variables that it can do without.
    public let dispensable: Set<String>
    /// Gets what follows the name on the command line; returns the exit status.
    public let run: @Sendable (Configuration, ServiceContext, [String]) async throws -> Int32

    public init(
        _ name: String, _ summary: String, dispensable: Set<String> = [],
        _ run: @escaping @Sendable (Configuration, ServiceContext, [String]) async throws -> Int32
    ) {
        self.name = name
        self.summary = summary
        self.dispensable = dispensable
        self.run = run
    }
}

/// The executable of a service: command line, configuration, signals, lifecycle, exit status.
///
/// ```swift
/// @main enum Gateway {
///     static func main() {
///         ServiceProgram<GatewayConfiguration>("gateway", "HTTP interface of Latchkey.") { configuration, context in
///             try GatewayService.components(configuration, context)
///         }.main()
///     }
/// }
/// ```
/// Exit status: 0 after a clean stop, 1 when a component failed, 2 for a wrong command line, 78 for a wrong configuration.
public struct ServiceProgram<Configuration: ServiceConfiguration>: Sendable {
    public let name: String
    public let summary: String
    public let subcommands: [Subcommand<Configuration>]
    private let waitsForTurn: Bool
    private let build: @Sendable (Configuration, ServiceContext) async throws -> [any Component]

    /// - Parameters:
    ///   - waitsForTurn: whether it leaves a busy processor to what runs there; not for one that many small requests keep busy,
    ///     each of which would wait.
    ///   - build: puts the service together, in the order of dependencies. What it throws ends the process.
    public init(
        _ name: String, _ summary: String, subcommands: [Subcommand<Configuration>] = [], waitsForTurn: Bool = true,
        build: @escaping @Sendable (Configuration, ServiceContext) async throws -> [any Component]
    ) {
        self.name = name
        self.summary = summary
        self.subcommands = subcommands
        self.waitsForTurn = waitsForTurn
        self.build = build
    }

    /// Does what the command line says. Has to be called on the main thread, before anything else.
    public func main() -> Never {
        // First of all, so that no signal is lost however early it comes, and no thread is ever interrupted by one.
        let signals = TerminationSignals.block()
        let arguments = CommandLineArguments(Array(CommandLine.arguments.dropFirst()), subcommands: subcommands.map(\.name))
        switch arguments {
        case .help:
            StandardStream.write(help(), to: STDOUT_FILENO)
            exit(0)
        case .version:
            StandardStream.write("\(name) \(Version.current)\n", to: STDOUT_FILENO)
            exit(0)
        case .invalid(let reason):
            StandardStream.write("\(name): \(reason)\nTry '\(name) --help'.\n", to: STDERR_FILENO)
            exit(ExitStatus.usage)
        case .run:
            start(signals) { configuration, context, stop in
                try await serve(configuration, context, stop)
            }
        case .subcommand(let chosen, let rest):
            let subcommand = subcommands.first { $0.name == chosen }!
            start(signals, dispensable: subcommand.dispensable) { configuration, context, stop in
                try await perform(subcommand, configuration, context, rest, stop)
            }
        }
    }

    /// Reads the configuration, runs `body` in a task, and hands signals to it from this thread until it ends the process.
    private func start(
        _ signals: TerminationSignals, dispensable: Set<String> = [],
        _ body: @escaping @Sendable (Configuration, ServiceContext, AsyncStream<Void>) async throws -> Int32
    ) -> Never {
        if waitsForTurn { Scheduling.waitForTurn() }
        let loaded: Loaded<Configuration>
        do {
            loaded = try Configuration.load(from: .ofProcess(), dispensable: dispensable)
        } catch {
            let lines = error.faults.map { "\(name): \($0)\n" }.joined()
            StandardStream.write(lines, to: STDERR_FILENO)
            exit(ExitStatus.configuration)
        }
        let logger = Logger(service: name, level: loaded.configuration.common.logLevel)
        for unknown in loaded.unknownVariables {
            logger.warning(
                "unknown environment variable",
                ["variable": .public(unknown.name), "perhaps": .public(unknown.suggestion ?? "")])
        }
        let context = ServiceContext(logger: logger)
        ProcessMetrics.register(in: context.metrics)

        let (stop, report) = AsyncStream.makeStream(of: Void.self)
        let configuration = loaded.configuration
        Task {
            var status: Int32
            do {
                status = try await body(configuration, context, stop)
            } catch {
                context.logger.error("cannot start", ["error": .public("\(type(of: error))"), "reason": .public("\(error)")])
                status = ExitStatus.failure
            }
            // Threads that did not end, and destructors of C++ libraries, must not get into each other's way.
            context.logger.flush()
            fflush(nil)
            _exit(status)
        }
        signals.wait { report.yield() }
    }

    private func serve(_ configuration: Configuration, _ context: ServiceContext, _ stop: AsyncStream<Void>) async throws -> Int32
    {
        context.logger.info(
            "starting", ["version": .public(Version.current), "environment": .public(configuration.common.environment.rawValue)])
        let components = try await build(configuration, context)
        let status = await ServiceLifecycle(components, logger: context.logger, readiness: context.readiness).run(stop: stop)
        context.logger.info("stopped", ["status": .public(status)])
        return status
    }

    /// A signal cancels a subcommand; a second one ends the process.
    private func perform(
        _ subcommand: Subcommand<Configuration>, _ configuration: Configuration, _ context: ServiceContext, _ arguments: [String],
        _ stop: AsyncStream<Void>
    ) async throws -> Int32 {
        let work = Task { try await subcommand.run(configuration, context, arguments) }
        let stopping = Task {
            var count = 0
            for await _ in stop {
                count += 1
                if count > 1 {
                    context.logger.flush()
                    _exit(ExitStatus.failure)
                }
                work.cancel()
            }
        }
        defer { stopping.cancel() }
        return try await work.value
    }

    /// What `--help` prints.
    public func help() -> String {
        var text = "\(name) \(Version.current): \(summary)\n\nUsage:\n  \(name) [run]\n"
        for subcommand in subcommands { text += "  \(name) \(subcommand.name) …\n" }
        text +=
            "  \(name) --help | --version\n\nCommands:\n  run\n      Runs the service until SIGTERM or SIGINT (the default).\n"
        for subcommand in subcommands { text += "  \(subcommand.name)\n      \(subcommand.summary)\n" }
        text += "\nEnvironment variables (a secret may stand in a file named by NAME_FILE instead):\n"
        for declaration in Configuration.declarations { text += HelpText.entry(declaration) }
        return text
    }
}

/// Exit statuses of the executables.
public enum ExitStatus {
    public static let failure: Int32 = 1
    public static let usage: Int32 = 2
    /// `EX_CONFIG` of sysexits.h: starting again will not help.
    public static let configuration: Int32 = 78

    /// Says how a subcommand is called, and is the status of a call that was not so.
    public static func usage(_ text: String) -> Int32 {
        print("usage: \(text)")
        return usage
    }
}

/// Standard output and standard error, for what must be out at once.
public enum StandardStream {
    /// Writes all of it, or as much as is taken. Blocks.
    public static func write(_ text: String, to descriptor: Int32) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let written = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0 && errno == EINTR { continue }
            if written <= 0 { return }
            bytes = bytes.dropFirst(written)
        }
    }
}
