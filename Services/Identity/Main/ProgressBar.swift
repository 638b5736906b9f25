internal import Glibc
internal import IdentityService

/// A line at the terminal that is written over again and again; nothing where there is no terminal.
struct ProgressBar: Sendable {
    private static let width = 40
    private let isShown = isatty(STDERR_FILENO) == 1

    func show(_ done: Int, of all: Int?, _ text: String) {
        guard isShown else { return }
        let filled = all.map { $0 > 0 ? min(Self.width, max(0, done) * Self.width / $0) : Self.width } ?? 0
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
