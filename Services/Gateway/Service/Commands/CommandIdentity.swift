import Crypto
public import EventSchema
public import HTTP
import Synchronization

/// What ties a request to the commands that it leads to.
public enum Commands: ContextKey {
    public typealias Value = CommandIdentity
}

/// Gives the commands of one request their ids, and remembers what came of them.
public final class CommandIdentity: Sendable {
    private let root: [UInt8]?
    /// Opens the sealed part of replies; `nil` for the process' own pair.
    let replyPair: KeyPair?
    /// For how long the same command may come again; `nil`: it does not.
    let remember: Duration?
    /// Whether somebody has worked on the request before, whose command may have had its effects.
    let isRepeated: Bool
    /// Keeps an answer that came after its request had ended; `nil` where nobody would ask for it.
    let keepLate: (@Sendable (Response) -> Void)?
    private let sent = Mutex((open: 0, refused: 0))

    /// For a request that comes once.
    public init() {
        root = nil
        replyPair = nil
        remember = nil
        isRepeated = false
        keepLate = nil
    }

    /// For a request that may come again, anywhere.
    ///
    /// - Parameter root: secret bytes that are the same each time.
    init(
        root: [UInt8], replyPair: KeyPair, remember: Duration, isRepeated: Bool, keepLate: @escaping @Sendable (Response) -> Void
    ) {
        self.root = root
        self.replyPair = replyPair
        self.remember = remember
        self.isRepeated = isRepeated
        self.keepLate = keepLate
    }

    /// The id of the request's command of this type.
    ///
    /// - Parameter attempt: grows each time that the command has to be made anew.
    public func id(of type: MessageType, attempt: Int = 0) -> MessageID {
        guard let root else { return .random() }
        // A name holds no space.
        let name = attempt == 0 ? type.name : "\(type.name) \(attempt)"
        return MessageID(digest: HMACSHA256(key: root).code(for: Array(name.utf8)))
    }

    /// From now on the request may have an outcome that nobody has seen.
    func willSend() { sent.withLock { $0.open += 1 } }

    /// The reply to a command says that it had no effect, and never will: who has decided so remembers it.
    func wasRefused() { sent.withLock { $0 = ($0.open - 1, $0.refused + 1) } }

    /// What the request leaves behind so far.
    var trace: Trace { sent.withLock { $0.open > 0 ? .commands : $0.refused > 0 ? .refusals : .nothing } }
}
