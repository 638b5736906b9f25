import Glibc

/// A certificate chain and its key, as PEM text with the NUL that C expects.
struct Certificate: Sendable {
    let chain: [UInt8]
    let key: [UInt8]

    init(_ files: HTTPServer.TLS) throws(HTTPServerError) {
        chain = try Certificate.read(files.certificateFile)
        key = try Certificate.read(files.keyFile)
    }

    private static func read(_ path: String) throws(HTTPServerError) -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw .unreadableFile(path: path, reason: String(cString: strerror(errno))) }
        defer { close(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while bytes.count < 1 << 20 {
            let count = Glibc.read(file, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .unreadableFile(path: path, reason: String(cString: strerror(errno))) }
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        return bytes + [0]
    }
}
