/// A queue between any thread and one of ours that waits for it.
public final class Mailbox<Message: Sendable>: Sendable {
    private struct State: Sendable {
        var messages: [Message] = []
        var isClosed = false
        var isWoken = false
    }

    private let limit: Int
    private let state = Condition(State())

    /// - Parameter limit: the number of messages that may wait.
    public init(limit: Int = .max) { self.limit = limit }

    /// Returns false, without taking the message, when the mailbox is full or closed. Never blocks.
    @discardableResult
    public func send(_ message: Message) -> Bool {
        state.update { state in
            guard !state.isClosed, state.messages.count < limit else { return false }
            state.messages.append(message)
            return true
        }
    }

    /// Blocks until there is something, and takes all of it, or the `most` that came first. Empty after `timeout`, after
    /// `wake`, and when the mailbox is closed and drained.
    public func receive(within timeout: Duration?, atMost most: Int = .max) -> [Message] {
        let received: [Message]? = state.wait(within: timeout) { state in
            guard !state.messages.isEmpty || state.isClosed || state.isWoken else { return nil }
            state.isWoken = false
            guard state.messages.count > most else {
                defer { state.messages = [] }
                return state.messages
            }
            defer { state.messages.removeFirst(most) }
            return Array(state.messages.prefix(most))
        }
        return received ?? []
    }

    /// Ends a `receive` that waits, or the next one.
    public func wake() { state.update { $0.isWoken = true } }

    /// Nothing more is taken; what waits can still be received.
    public func close() { state.update { $0.isClosed = true } }

    public var isClosed: Bool { state.read { $0.isClosed } }
    public var count: Int { state.read { $0.messages.count } }
}
