/// How much a line matters; `LATCHKEY_LOG_LEVEL` names the least that is written.
public enum LogLevel: String, Sendable, Comparable, CaseIterable {
    case debug, info, notice, warning, error

    private var rank: Int {
        switch self {
        case .debug: 0
        case .info: 1
        case .notice: 2
        case .warning: 3
        case .error: 4
        }
    }

    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rank < right.rank }
}
