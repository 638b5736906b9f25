internal import EventLog
internal import EventSchema
internal import IdentityService
internal import LogBackends
internal import LoopService
internal import Runtime

@main
enum Identity {
    static func main() {
        ServiceProgram<IdentityConfiguration>(
            "identity", "Users, sessions and verified addresses of Latchkey.",
            subcommands: [migrate, keys, mac, sealing, importing, user, rebuild, asOf, status, poison, audit, daily]
        ) { configuration, context in
            let common = configuration.common
            let log = ConfiguredLog.make(common)
            return try IdentityService(configuration, context, log: log) { () throws(LogError) in
                try ConfiguredLog.provision(common)
            }.components
        }.main()
    }

    private static let migrate = Subcommand<IdentityConfiguration>.migrate(
        "the schemas of Identity", { try IdentityService.migrations() }, over: { IdentityService.database($0.common) })

    private static let keys = Subcommand<IdentityConfiguration>(
        "keys",
        "[list]: shows the keys that sign tokens. rotate: the next key signs from now on. retire KID: no token of it counts any more. rewrap: wraps all keys under IDENTITY_SECRET, so that what is accepted beside it can go. backup FILE, restore FILE: the keys that cannot be made anew."
    ) { configuration, _, arguments in
        let operations = try SigningKeyOperations(configuration, log: ConfiguredLog.make(configuration.common))
        switch (arguments.first ?? "list", arguments.count) {
        case ("list", 0...1):
            print(try await BlockingPool.runOnce(name: "subcommand") { try operations.list() }, terminator: "")
        case ("rotate", 1):
            print("tokens are signed by \(try await BlockingPool.runOnce(name: "subcommand") { try operations.rotate() })")
        case ("retire", 2):
            let kid = arguments[1]
            if let problem = try await BlockingPool.runOnce(name: "subcommand", { try operations.retire(kid) }) {
                print(problem)
                return ExitStatus.failure
            }
            print("no token of \(kid) counts any more")
        case ("rewrap", 1):
            let outcome = try await BlockingPool.runOnce(name: "subcommand") {
                let bar = ProgressBar()
                defer { bar.finish() }
                return try KeyRewrapping(configuration).run { bar.show($0, of: $1, "\($0) of \($1) data keys") }
            }
            for key in outcome.locked { print("\(key) opens under no secret that is known here") }
            print("\(outcome.anew) keys were wrapped anew")
            return outcome.locked.isEmpty ? 0 : ExitStatus.failure
        case ("backup", 2):
            let count = try await BlockingPool.runOnce(name: "subcommand") {
                try KeyBackup(configuration, log: ConfiguredLog.make(configuration.common)).write(to: arguments[1])
            }
            print("\(count) data keys, and those that sign tokens, are in \(arguments[1])")
        case ("restore", 2):
            let restored = try await BlockingPool.runOnce(name: "subcommand") {
                try KeyBackup(configuration, log: ConfiguredLog.make(configuration.common)).restore(from: arguments[1])
            }
            if let outcome = restored.outcome {
                print(
                    "\(restored.read) data keys were read, \(outcome.restored) are used again, \(outcome.destroyed) were destroyed since"
                )
            } else {
                print("\(restored.read) data keys were read; they are used once Identity has projected all that the log holds")
            }
        default:
            return ExitStatus.usage("identity keys [list] | rotate | retire KID | rewrap | backup FILE | restore FILE")
        }
        return 0
    }

    private static let mac = Subcommand<IdentityConfiguration>(
        "mac",
        "[status]: shows under which of the log's MAC keys each chain is written. rotate [--absent]: goes over to the next one, which every service must hold; --absent: also when not all of them are running."
    ) { configuration, _, arguments in
        let isRotation: Bool
        switch arguments {
        case [], ["status"]: isRotation = false
        case ["rotate"], ["rotate", "--absent"]: isRotation = true
        default: return ExitStatus.usage("identity mac [status] | rotate [--absent]")
        }
        let isAbsenceFine = arguments.last == "--absent"
        return try await BlockingPool.runOnce(name: "subcommand") {
            let operations = MACKeyOperations(configuration, log: ConfiguredLog.make(configuration.common))
            guard isRotation else {
                print(try operations.status(), terminator: "")
                return 0
            }
            let isDone = try operations.rotate(isAbsenceFine: isAbsenceFine) { print($0) }
            return isDone ? 0 : ExitStatus.failure
        }
    }

    private static let importing = Subcommand<IdentityConfiguration>(
        "import", "FILE: brings users of another system, one JSON object a line, with their password hashes."
    ) { configuration, _, arguments in
        guard let path = arguments.first, arguments.count == 1 else { return ExitStatus.usage("identity import FILE") }
        return try await BlockingPool.runOnce(name: "subcommand") { try ImportCommand.run(path, configuration) }
            ? 0 : ExitStatus.failure
    }

    private static let sealing = Subcommand<IdentityConfiguration>.sealing("identity", of: "Identity") { configuration in
        "\(try IdentityService.rotateSealingKey(configuration, log: ConfiguredLog.make(configuration.common)))"
    }

    private static let daily = Subcommand<IdentityConfiguration>(
        "daily", "rebuild: makes the table daily.figures anew from the log, while it is used."
    ) { configuration, _, arguments in
        guard arguments == ["rebuild"] else { return ExitStatus.usage("identity daily rebuild") }
        let count = try await BlockingPool.runOnce(name: "subcommand") {
            let bar = ProgressBar()
            defer { bar.finish() }
            return try DailyFigures.rebuild(configuration, log: ConfiguredLog.make(configuration.common)) {
                bar.show(Int($0), of: Int($1), "\($0) of \($1) records")
            }
        }
        print("\(count) events were taken in")
        return 0
    }

    private static let user = Subcommand<IdentityConfiguration>(
        "user",
        "show|disable|enable USER, groups USER [GROUP …]: a user by id, e-mail address or phone number; through the running services."
    ) { configuration, _, arguments in
        let change: UserOperations.Change?
        switch (arguments.first, arguments.count) {
        case ("show", 2): change = nil
        case ("disable", 2): change = .disable
        case ("enable", 2): change = .enable
        case ("groups", 2...): change = .groups(Array(arguments.dropFirst(2)))
        default: return ExitStatus.usage("identity user show|disable|enable USER, identity user groups USER [GROUP …]")
        }
        let name = arguments[1]
        return try await BlockingPool.runOnce(name: "subcommand") {
            let users = try UserOperations(configuration, log: ConfiguredLog.make(configuration.common))
            guard let change else {
                guard let text = try users.show(name) else {
                    print(UserOperations.Answer.unknownUser)
                    return ExitStatus.failure
                }
                print(text, terminator: "")
                return 0
            }
            let answer = try users.change(name, change)
            print(answer)
            return answer == .done ? 0 : ExitStatus.failure
        }
    }

    private static let rebuild = Subcommand<IdentityConfiguration>(
        "rebuild",
        "makes the tables anew from identity.events, beside the live ones, and swaps. --verify: compares them only. --drop-old: drops what was swapped out."
    ) { configuration, _, arguments in
        try await BlockingPool.runOnce(name: "subcommand") { try RebuildCommand.run(arguments, configuration) }
    }

    private static let asOf = Subcommand<IdentityConfiguration>(
        "as-of", "TIME: the tables as they were then (RFC 3339), in a schema of their own, whose name is printed."
    ) { configuration, _, arguments in
        guard arguments.count == 1, let time = IdentityRebuild.instant(arguments[0]) else {
            return ExitStatus.usage("identity as-of TIME, such as 2026-11-30T12:00:00Z")
        }
        return try await BlockingPool.runOnce(name: "subcommand") { try RebuildCommand.asOf(time, configuration) }
    }

    private static let status = Subcommand<IdentityConfiguration>(
        "status", "how far each partition is projected, and where one stands still."
    ) { configuration, _, arguments in
        guard arguments.isEmpty else { return ExitStatus.usage("identity status") }
        return try await BlockingPool.runOnce(name: "subcommand") { try StatusCommand.status(configuration) }
    }

    private static let poison = Subcommand<IdentityConfiguration>(
        "poison",
        "show: events that cannot be read. skip PARTITION OFFSET --reason TEXT: an event of its own says that all pass one over."
    ) { configuration, _, arguments in
        try await BlockingPool.runOnce(name: "subcommand") { try StatusCommand.poison(arguments, configuration) }
    }

    private static let audit = Subcommand<IdentityConfiguration>(
        "audit",
        "user ID|EMAIL|PHONE, log: what the log says. prove: that nothing in it was changed. erased ID: that a user is gone.",
        dispensable: AuditOperations.dispensable
    ) { configuration, _, arguments in
        let stop = StopFlag()
        return try await withTaskCancellationHandler {
            try await BlockingPool.runOnce(name: "subcommand") {
                try AuditOperations(configuration, log: ConfiguredLog.make(configuration.common)).run(arguments, stop)
            }
        } onCancel: {
            stop.raise()
        }
    }
}
