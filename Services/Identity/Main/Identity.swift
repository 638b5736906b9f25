internal import EventLog
internal import IdentityService
internal import LogBackends
internal import LoopService
internal import Runtime

@main
enum Identity {
    static func main() {
        ServiceProgram<IdentityConfiguration>(
            "identity", "Users, sessions and verified addresses of Latchkey.", subcommands: [migrate, keys]
        ) { configuration, context in
            let common = configuration.common
            let log = ConfiguredLog.make(common)
            return try IdentityService(configuration, context, log: log) { () throws(LogError) in
                try ConfiguredLog.provision(common)
            }.components
        }.main()
    }

    private static let migrate = Subcommand<IdentityConfiguration>(
        "migrate", "Brings the schemas of Identity up to date, and ends."
    ) { configuration, _, _ in
        _ = try await blocking {
            try Preparation.apply(IdentityService.migrations(), IdentityService.database(configuration.common))
        }
        return 0
    }

    private static let keys = Subcommand<IdentityConfiguration>(
        "keys",
        "[list]: shows the keys that sign tokens. rotate: the next key signs from now on. retire KID: no token of it counts any more."
    ) { configuration, _, arguments in
        let operations = SigningKeyOperations(configuration)
        switch (arguments.first ?? "list", arguments.count) {
        case ("list", 0...1):
            print(try await blocking { try operations.list() }, terminator: "")
        case ("rotate", 1):
            print("tokens are signed by \(try await blocking { try operations.rotate() })")
        case ("retire", 2):
            let kid = arguments[1]
            if let problem = try await blocking({ try operations.retire(kid) }) {
                print(problem)
                return ExitStatus.failure
            }
            print("no token of \(kid) counts any more")
        default:
            return usage("identity keys [list] | rotate | retire KID")
        }
        return 0
    }

    private static func usage(_ text: String) -> Int32 {
        print("usage: \(text)")
        return ExitStatus.usage
    }

    /// Off Swift's own threads.
    private static func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        let pool = BlockingPool(name: "subcommand", threads: 1)
        defer { pool.close() }
        return try await pool.run(work)
    }
}
