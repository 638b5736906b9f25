internal import Glibc

/// A file of lines, read one after the other, whatever its size.
public final class LineFile {
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    /// In bytes; `nil` for what is no regular file.
    public let size: Int?
    /// How many bytes were read.
    public private(set) var position = 0
    private let file: UnsafeMutablePointer<FILE>
    private var buffer: UnsafeMutablePointer<CChar>?
    private var capacity = 0

    public init(_ path: String) throws(Failure) {
        guard let file = fopen(path, "re") else {
            throw Failure(description: "\(path): \(String(cString: strerror(errno)))")
        }
        self.file = file
        var status = stat()
        size = fstat(fileno(file), &status) == 0 && status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : nil
    }

    deinit {
        free(buffer)
        fclose(file)
    }

    /// The next line without its end; `nil` after the last one.
    public func next() throws(Failure) -> [UInt8]? {
        let count = getline(&buffer, &capacity, file)
        guard count >= 0, let buffer else {
            guard ferror(file) == 0 else {
                throw Failure(description: "the file cannot be read: \(String(cString: strerror(errno)))")
            }
            return nil
        }
        position += count
        let bytes = UnsafeRawBufferPointer(start: buffer, count: count)
        return Array(bytes.last == UInt8(ascii: "\n") ? bytes.dropLast() : bytes[...])
    }
}
