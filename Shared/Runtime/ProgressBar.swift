internal import Glibc

/// A line at the terminal that is written over again and again; nothing where standard error is no terminal.
public struct ProgressBar: Sendable {
    private static let width = 40
    private let isShown = isatty(STDERR_FILENO) == 1

    public init() {}

    /// - Parameter all: what is to be done; `nil` where nobody knows.
    public func show(_ done: Int, of all: Int?, _ text: String) {
        guard isShown else { return }
        let filled = all.map { $0 > 0 ? min(Self.width, max(0, done) * Self.width / $0) : Self.width } ?? 0
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: Self.width - filled)
        StandardStream.write("\r\u{1b}[K[\(bar)] \(text)", to: STDERR_FILENO)
    }

    /// Leaves the line as it is.
    public func finish() {
        if isShown { StandardStream.write("\n", to: STDERR_FILENO) }
    }

    /// Takes the line away.
    public func clear() {
        if isShown { StandardStream.write("\r\u{1b}[K", to: STDERR_FILENO) }
    }
}
