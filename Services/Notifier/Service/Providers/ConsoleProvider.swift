public import EventSchema
internal import Glibc
internal import JSON
public import Runtime

/// Delivers to whoever reads the standard output: one JSON line for each message, and the same line in an outbox, if there
/// is one. Made for development, tests, and for running without any provider.
///
/// The outbox decides: a message that stands in it has been delivered, and is not written again.
public struct ConsoleProvider: Provider {
    /// As settings and events name it.
    public static let providerName = "console"

    public let name = Self.providerName
    public let batchSize = 256
    /// Lines come one after the other.
    public let concurrency = 1
    private let outbox: Outbox?
    private let output: Int32
    private let logger: Logger

    /// - Parameter output: a file descriptor, standard output as a rule.
    public init(outbox: Outbox?, output: Int32 = 1, logger: Logger) {
        self.outbox = outbox
        self.output = output
        self.logger = logger
        // A reader that went away must not end the process.
        signal(SIGPIPE, SIG_IGN)
    }

    public var removesDoubles: Bool { outbox != nil }

    public func deliver(_ messages: [OutgoingMessage]) -> [ProviderResult] {
        let lines = messages.map(Self.line)
        guard let outbox else { return lines.map { write($0) ? .delivered(providerID: nil) : .failed(.unavailable) } }
        do throws(Outbox.Failure) {
            let entries = zip(messages, lines).map { Outbox.Entry(id: $0.id, requestedAt: $0.requestedAt, line: $1) }
            for (isNew, line) in zip(try outbox.append(entries), lines) where isNew {
                if !write(line) { logger.warning("a delivery stands in the outbox, and could not be written to the output") }
            }
            return messages.map { _ in .delivered(providerID: nil) }
        } catch {
            logger.error("the outbox cannot be written", ["reason": .public(error.reason)])
            return messages.map { _ in .failed(.unavailable) }
        }
    }

    public func hasTaken(_ id: MessageID, since: Timestamp) -> Bool? {
        do throws(Outbox.Failure) {
            return try outbox?.contains(id, since: since)
        } catch {
            logger.error("the outbox cannot be read", ["reason": .public(error.reason)])
            return nil
        }
    }

    /// The line of a message, without the line feed.
    static func line(of message: OutgoingMessage) -> [UInt8] {
        var object: JSONObject = [
            "time": .string(message.time.rfc3339),
            "id": .string(message.id.text),
            "channel": .string(message.channel.rawValue),
            "to": .string(message.recipient),
            "purpose": .string(message.purpose.rawValue),
            "locale": .string(message.locale.text),
            "subject": message.subject.map { .string($0) } ?? .null,
            "text": .string(message.text),
        ]
        if let code = message.code { object["code"] = .string(code) }
        return JSON.object(object).serialized()
    }

    /// One write, as long as the reader takes it whole: lines of several processes do not mix.
    private func write(_ line: [UInt8]) -> Bool {
        var rest = (line + [UInt8(ascii: "\n")])[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(output, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN {
                // Somebody else has made the output non-blocking.
                var ready = pollfd(fd: output, events: Int16(POLLOUT), revents: 0)
                poll(&ready, 1, 1_000)
                continue
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
