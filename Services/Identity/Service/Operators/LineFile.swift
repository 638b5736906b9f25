internal import Glibc

/// A file of lines, read one after the other, whatever its size and that of its lines.
public final class LineFile {
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    /// The most bytes of a line. Of a longer one so many and one more are kept.
    static let longest = 1 << 20
    private static let chunk = 1 << 16

    /// In bytes; `nil` for what is no regular file.
    public let size: Int?
    /// How many bytes were read, up to the end of the last line.
    public private(set) var position = 0
    private let file: UnsafeMutablePointer<FILE>
    /// What was read of the file, and is not part of a line yet.
    private var ahead: ArraySlice<UInt8> = []

    public init(_ path: String) throws(Failure) {
        guard let file = fopen(path, "re") else {
            throw Failure(description: "\(path): \(String(cString: strerror(errno)))")
        }
        self.file = file
        var status = stat()
        size = fstat(fileno(file), &status) == 0 && status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : nil
    }

    deinit { fclose(file) }

    /// The next line without its end; `nil` after the last one.
    public func next() throws(Failure) -> [UInt8]? {
        var line: [UInt8] = []
        var hasBegun = false
        while true {
            if ahead.isEmpty { try readAhead() }
            guard !ahead.isEmpty else { return hasBegun ? line : nil }
            hasBegun = true
            let end = ahead.firstIndex(of: UInt8(ascii: "\n"))
            let part = ahead[..<(end ?? ahead.endIndex)]
            line += part.prefix(Self.longest + 1 - line.count)
            position += part.count
            ahead = ahead[part.endIndex...]
            if end != nil {
                position += 1
                ahead.removeFirst()
                return line
            }
        }
    }

    private func readAhead() throws(Failure) {
        let bytes = [UInt8](unsafeUninitializedCapacity: Self.chunk) { buffer, count in
            count = fread(buffer.baseAddress, 1, Self.chunk, file)
        }
        guard ferror(file) == 0 else {
            throw Failure(description: "the file cannot be read: \(String(cString: strerror(errno)))")
        }
        ahead = bytes[...]
    }
}
