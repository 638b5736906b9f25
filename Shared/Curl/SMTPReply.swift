/// What a mail server answered, without its text: that may name the recipient.
public struct SMTPReply: Equatable, Sendable, CustomStringConvertible {
    /// RFC 5321, section 4.2: three digits.
    public var code: Int
    /// RFC 3463: `5.1.1`.
    public var status: String?

    public init(_ code: Int, _ status: String? = nil) {
        self.code = code
        self.status = status
    }

    public var isAcceptance: Bool { 200..<300 ~= code }
    /// It may be otherwise later.
    public var isPassing: Bool { 400..<500 ~= code }
    public var isFinal: Bool { 500..<600 ~= code }

    public var description: String { status.map { "\(code) \($0)" } ?? "\(code)" }

    /// Reads one line. `nil` where it is no line of a reply.
    ///
    /// - Returns: the reply, and whether this line ends it.
    static func parse(_ line: some Collection<UInt8>) -> (reply: SMTPReply, isLast: Bool)? {
        let bytes = Array(line.prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") })
        guard bytes.count >= 3, bytes[..<3].allSatisfy(isDigit), UInt8(ascii: "2")...UInt8(ascii: "5") ~= bytes[0] else {
            return nil
        }
        let code = bytes[..<3].reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        guard bytes.count > 3 else { return (SMTPReply(code), true) }
        guard bytes[3] == UInt8(ascii: " ") || bytes[3] == UInt8(ascii: "-") else { return nil }
        return (SMTPReply(code, status(bytes[4...])), bytes[3] == UInt8(ascii: " "))
    }

    private static func status(_ text: ArraySlice<UInt8>) -> String? {
        let word = text.prefix { $0 != UInt8(ascii: " ") }
        let parts = word.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].count == 1, parts.allSatisfy({ 1...3 ~= $0.count && $0.allSatisfy(isDigit) }) else {
            return nil
        }
        return String(decoding: word, as: UTF8.self)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }
}
