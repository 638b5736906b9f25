internal import IdentityService
internal import LogBackends
internal import Runtime

/// `identity import FILE`: tells how far it is while it runs, and what was wrong with which line.
enum ImportCommand {
    /// Blocks. Returns whether every line was taken.
    static func run(_ path: String, _ configuration: IdentityConfiguration) throws -> Bool {
        let file = try LineFile(path)
        let users = try UserImport(configuration, log: ConfiguredLog.make(configuration.common))
        let bar = ProgressBar()
        let summary = try users.run(
            next: { try file.next() },
            progress: { bar.show(file.position, of: file.size, "\($0.imported) imported, \($0.faults.count) bad") })
        bar.finish()
        for fault in summary.faults { print("line \(fault.line) \(fault.reason)") }
        print("\(summary.imported) imported, \(summary.existing) there already, \(summary.faults.count) bad")
        return summary.faults.isEmpty
    }
}
