internal import Synchronization

/// An HTTP interface on this machine that answers as a test says, and keeps what it was asked.
public final class CallServer: Sendable {
    public struct Call: Sendable {
        /// `POST /emails`.
        public var target: String
        /// By names in lower case.
        public var headers: [String: String]
        public var body: [UInt8]
        /// Which connection it came over, from 1.
        public var connection: Int

        public var text: String { String(decoding: body, as: UTF8.self) }
    }

    public enum Reaction: Sendable {
        case answer(Int, String, headers: [String: String] = [:])
        case hangUp
        /// Says nothing, and waits until the client is gone.
        case silence
    }

    private let listener: Listener
    private let taken = Mutex<[Call]>([])

    public var address: String { "http://127.0.0.1:\(listener.port)" }
    public var calls: [Call] { taken.withLock { $0 } }

    /// - Parameter react: is asked for each call, with its number from 1.
    public init(_ react: @escaping @Sendable (Call, Int) -> Reaction) throws {
        listener = try Listener()
        listener.start { [weak self] wire, connection in
            while let call = Self.call(over: wire, connection) {
                let number = self?.taken.withLock { taken in
                    taken.append(call)
                    return taken.count
                }
                guard let number else { return }
                switch react(call, number) {
                case .hangUp: return
                case .silence: while wire.line() != nil {}
                case .answer(let status, let body, let headers):
                    let lines =
                        ["HTTP/1.1 \(status) X", "Content-Length: \(body.utf8.count)"] + headers.map { "\($0.key): \($0.value)" }
                    wire.write(lines.joined(separator: "\r\n") + "\r\n\r\n" + body)
                }
            }
        }
    }

    deinit { stop() }

    public func stop() { listener.stop() }

    private static func call(over wire: Wire, _ connection: Int) -> Call? {
        guard let first = wire.line() else { return nil }
        let words = String(decoding: first, as: UTF8.self).split(separator: " ")
        var headers: [String: String] = [:]
        while let line = wire.line(), !line.isEmpty {
            let parts = String(decoding: line, as: UTF8.self).split(separator: ":", maxSplits: 1)
            headers[parts[0].lowercased()] = parts.count > 1 ? String(parts[1].drop { $0 == " " }) : ""
        }
        guard let body = wire.bytes(Int(headers["content-length"] ?? "") ?? 0) else { return nil }
        return Call(target: words.prefix(2).joined(separator: " "), headers: headers, body: body, connection: connection)
    }
}
