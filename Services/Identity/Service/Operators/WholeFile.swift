internal import Glibc

/// A file that takes the place of one of its name when it is whole, and not at all before.
final class WholeFile {
    /// What the system says, with the file's name.
    struct Failure: Error, CustomStringConvertible {
        let description: String

        init(_ path: String) { description = "\(path): \(String(cString: strerror(errno)))" }
    }

    private let path: String
    private let temporary: String
    private let file: UnsafeMutablePointer<FILE>
    private var isFinished = false

    /// - Parameter permissions: less those that the process's mask takes away.
    init(replacing path: String, permissions: mode_t) throws(Failure) {
        self.path = path
        temporary = "\(path).\(getpid()).new"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, permissions)
        guard descriptor >= 0, let file = fdopen(descriptor, "w") else { throw Failure(temporary) }
        self.file = file
    }

    deinit {
        if !isFinished {
            fclose(file)
            unlink(temporary)
        }
    }

    func write(_ bytes: [UInt8]) throws(Failure) {
        guard fwrite(bytes, 1, bytes.count, file) == bytes.count else { throw Failure(path) }
    }

    func write(line: [UInt8]) throws(Failure) { try write(line + [UInt8(ascii: "\n")]) }

    func finish() throws(Failure) {
        guard fflush(file) == 0, fsync(fileno(file)) == 0, rename(temporary, path) == 0 else { throw Failure(path) }
        isFinished = true
        fclose(file)
    }
}
