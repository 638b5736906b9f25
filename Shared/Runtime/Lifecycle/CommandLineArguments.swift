/// What the command line of a service asks for.
public enum CommandLineArguments: Equatable, Sendable {
    case run
    case help
    case version
    case subcommand(String, [String])
    /// Says what is wrong.
    case invalid(String)

    /// - Parameters:
    ///   - arguments: without the name of the program.
    ///   - subcommands: those beside `run`. What follows one is its own.
    public init(_ arguments: [String], subcommands: [String]) {
        switch arguments.first {
        case nil: self = .run
        case "--help", "-h", "help": self = arguments.count == 1 ? .help : .invalid("unexpected argument '\(arguments[1])'")
        case "--version": self = arguments.count == 1 ? .version : .invalid("unexpected argument '\(arguments[1])'")
        case "run":
            switch arguments.dropFirst().first {
            case nil: self = .run
            case "--help", "-h": self = .help
            case let other?: self = .invalid("unexpected argument '\(other)'")
            }
        case let name? where subcommands.contains(name): self = .subcommand(name, Array(arguments.dropFirst()))
        case let option? where option.hasPrefix("-"): self = .invalid("unknown option '\(option)'")
        case let name?: self = .invalid("unknown command '\(name)'")
        }
    }
}
