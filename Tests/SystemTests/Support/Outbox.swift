import Foundation
import JSON
import Synchronization

/// The deliveries of a system's console, as many as may want to know of them: each line is read once.
final class Outbox: Sendable {
    struct Delivery: Sendable {
        var id: String
        var purpose: String
        var code: String?
    }

    private struct State {
        var file: FileHandle?
        var rest = Data()
        var deliveries: [String: [Delivery]] = [:]
    }

    private let path: String
    private let state = Mutex(State())

    init(of system: LatchkeySystem) { path = system.state + "/outbox.jsonl" }

    /// Oldest first.
    func deliveries(to recipient: String) -> [Delivery] {
        state.withLock { state in
            if state.file == nil { state.file = FileHandle(forReadingAtPath: path) }
            state.rest += (try? state.file?.readToEnd()) ?? Data()
            while let end = state.rest.firstIndex(of: UInt8(ascii: "\n")) {
                if let line = try? JSON.parse(Array(state.rest[..<end])), let recipient = line["to"]?.string {
                    let delivery = Delivery(
                        id: line["id"]?.string ?? "", purpose: line["purpose"]?.string ?? "", code: line["code"]?.string)
                    state.deliveries[recipient, default: []].append(delivery)
                }
                state.rest = Data(state.rest[(end + 1)...])
            }
            return state.deliveries[recipient] ?? []
        }
    }
}
