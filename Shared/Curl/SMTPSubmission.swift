/// A message on its way to a mail server.
public struct SMTPSubmission: Sendable {
    /// The envelope's addresses, without angle brackets.
    public var sender: String
    public var recipient: String
    /// The message as RFC 5322 has it, lines ended by CR LF.
    public var content: [UInt8]
    /// From this time on it is not handed over any more.
    public var deadline: ContinuousClock.Instant

    public init(sender: String, recipient: String, content: [UInt8], deadline: ContinuousClock.Instant) {
        self.sender = sender
        self.recipient = recipient
        self.content = content
        self.deadline = deadline
    }

    var needsUTF8: Bool { !recipient.utf8.allSatisfy { $0 < 0x80 } || !sender.utf8.allSatisfy { $0 < 0x80 } }

    /// Whether nothing in the addresses can end a command, or what holds an address in it.
    var hasSoundAddresses: Bool { [sender, recipient].allSatisfy(Self.isSound) }

    private static func isSound(_ address: String) -> Bool {
        let bytes = address.utf8
        guard bytes.count <= 254, let at = bytes.firstIndex(of: UInt8(ascii: "@")), at > bytes.startIndex else { return false }
        guard bytes.lastIndex(of: UInt8(ascii: "@")) == at, bytes.index(after: at) < bytes.endIndex else { return false }
        return bytes.allSatisfy { $0 > 0x20 && $0 != 0x7f && !"<>\"\\,;:()[]".utf8.contains($0) }
    }
}
