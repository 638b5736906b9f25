/// Why a text is not JSON, and where. It holds nothing of the text, which may be a secret.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Reason: String, Sendable {
        case unexpectedEnd = "the text ends too early"
        case unexpectedByte = "a byte that cannot stand here"
        case trailingBytes = "something follows the value"
        case tooDeep = "arrays and objects are nested too deeply"
        case duplicateKey = "a name stands twice in one object"
        case malformedNumber = "not a number in JSON's form"
        case numberOutOfRange = "a number that is too large"
        case controlCharacter = "a control character in a string"
        case malformedEscape = "not an escape of JSON"
        case loneSurrogate = "half of a surrogate pair"
        case invalidUTF8 = "bytes that are not UTF-8"
    }

    public var reason: Reason
    /// In bytes from the start of the text: where the fault begins. For a duplicate name, where its quotation mark stands.
    public var offset: Int

    public init(_ reason: Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }

    public var description: String { "byte \(offset): \(reason.rawValue)" }
}
