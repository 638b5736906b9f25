import Glibc

/// Reads files that fit into memory easily: secrets, and what the kernel shows as files.
enum SmallFile {
    /// `nil` if it cannot be read; `errno` says why.
    static func bytes(at path: String, limit: Int = 1 << 20) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while bytes.count < limit {
            let count = read(file, &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            if count < 0 { return nil }
            if count == 0 { break }
            bytes.append(contentsOf: buffer[..<count])
        }
        return bytes
    }

    static func text(at path: String) -> String? { bytes(at: path).map { String(decoding: $0, as: UTF8.self) } }
}
