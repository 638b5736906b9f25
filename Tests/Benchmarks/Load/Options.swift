/// What the command line asks for: `load WORKLOAD --port N --connections N --seconds N --first N --outbox FILE`.
struct Options {
    enum Workload: String {
        case healthz
        /// Codes are asked for, and then, in a second measurement, each is consumed.
        case sendAndConfirm = "send+confirm"
        /// Every connection asks for a code, waits for its delivery, and consumes it.
        case pair
        /// Accounts are made, signed in to, used, and their passwords reset, in one measurement after the other.
        case accounts
    }

    var workload = Workload.healthz
    var port: UInt16 = 3001
    var connections = 1
    var seconds = 5.0
    /// The number of the first identifier. Each request takes another one, and another client address with it.
    var first: UInt32 = 0
    var outbox = ""

    /// `nil` where the command line is not understood.
    init?(_ arguments: [String]) {
        guard let name = arguments.first, let workload = Workload(rawValue: name), arguments.count % 2 == 1 else { return nil }
        self.workload = workload
        for index in stride(from: 1, to: arguments.count, by: 2) {
            let value = arguments[index + 1]
            switch arguments[index] {
            case "--port": port = UInt16(value) ?? 0
            case "--connections": connections = Int(value) ?? 0
            case "--seconds": seconds = Double(value) ?? 0
            case "--first": first = UInt32(value) ?? 0
            case "--outbox": outbox = value
            default: return nil
            }
        }
        guard port > 0, connections > 0, seconds > 0, workload == .healthz || !outbox.isEmpty else { return nil }
    }
}
