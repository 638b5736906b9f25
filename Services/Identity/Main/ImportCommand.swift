internal import Glibc
internal import IdentityService
internal import LogBackends

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

/// A line at the terminal that is written over again and again; nothing where there is no terminal.
private struct ProgressBar {
    private static let width = 40
    private let isShown = isatty(STDERR_FILENO) == 1

    func show(_ done: Int, of all: Int?, _ text: String) {
        guard isShown else { return }
        let filled = all.map { $0 > 0 ? min(Self.width, done * Self.width / $0) : Self.width } ?? 0
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: Self.width - filled)
        write("\r\u{1b}[K[\(bar)] \(text)")
    }

    func finish() {
        if isShown { write("\n") }
    }

    private func write(_ text: String) {
        let bytes = Array(text.utf8)
        _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
    }
}
