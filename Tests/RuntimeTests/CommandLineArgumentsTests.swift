import Runtime
import Testing

@Suite struct CommandLineArgumentsTests {
    @Test(
        arguments: [
            ([], .run),
            (["run"], .run),
            (["--help"], .help),
            (["-h"], .help),
            (["run", "--help"], .help),
            (["--version"], .version),
            (["rebuild", "--verify"], .subcommand("rebuild", ["--verify"])),
            (["rebuild"], .subcommand("rebuild", [])),
            (["run", "fast"], .invalid("unexpected argument 'fast'")),
            (["--help", "x"], .invalid("unexpected argument 'x'")),
            (["--verbose"], .invalid("unknown option '--verbose'")),
            (["start"], .invalid("unknown command 'start'")),
            ([""], .invalid("unknown command ''")),
        ] as [([String], CommandLineArguments)])
    func `a command line is understood or refused`(arguments: [String], meaning: CommandLineArguments) {
        #expect(CommandLineArguments(arguments, subcommands: ["rebuild"]) == meaning)
    }
}
