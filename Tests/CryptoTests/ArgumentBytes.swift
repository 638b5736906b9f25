/// Bytes as an argument of a test, which says how many they are: written out, a million of them take minutes.
struct ArgumentBytes: Sendable, CustomStringConvertible {
    var bytes: [UInt8]
    var description: String { "\(bytes.count) bytes" }

    init(_ bytes: [UInt8]) { self.bytes = bytes }
}
