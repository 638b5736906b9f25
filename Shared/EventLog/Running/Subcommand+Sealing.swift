public import Runtime

extension Subcommand {
    /// `sealing rotate`: has everybody seal to a new key of a service from now on.
    ///
    /// - Parameters:
    ///   - program: the executable, for the usage.
    ///   - owner: whose key it is, for the help.
    ///   - rotate: draws and publishes the key, and tells what it is called. Blocks.
    public static func sealing(
        _ program: String, of owner: String, rotate: @escaping @Sendable (Configuration) throws -> String
    ) -> Subcommand {
        Subcommand(
            "sealing",
            "rotate: everybody seals to a new key of \(owner) from now on; what was sealed before opens as long as ever."
        ) { configuration, _, arguments in
            guard arguments == ["rotate"] else { return ExitStatus.usage("\(program) sealing rotate") }
            let key = try await BlockingPool.runOnce(name: "subcommand") { try rotate(configuration) }
            print("\(key) is sealed to from now on")
            return 0
        }
    }
}
