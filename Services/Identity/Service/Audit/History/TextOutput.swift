internal import Glibc
internal import Runtime

/// Standard output of a command that may write much: lines in blocks, and the end of it when nobody reads any more.
final class TextOutput {
    /// The reader has gone away: there is nothing more to do.
    struct Closed: Error {}

    private static let block = 1 << 16

    private let descriptor: Int32
    private var waiting: [UInt8] = []

    init(_ descriptor: Int32 = STDOUT_FILENO) { self.descriptor = descriptor }

    var isTerminal: Bool { isatty(descriptor) == 1 }

    func write(_ text: String) throws {
        waiting += text.utf8
        if waiting.count >= Self.block { try flush() }
    }

    func flush() throws {
        var rest = waiting[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EPIPE {
                throw Closed()
            } else if errno != EINTR {
                throw OutputFailure(description: "the output cannot be written: \(String(cString: strerror(errno)))")
            }
        }
        waiting.removeAll(keepingCapacity: true)
    }

    /// Fails if the reader of a pipe has gone away, without writing anything.
    func check() throws {
        var state = pollfd(fd: descriptor, events: 0, revents: 0)
        if poll(&state, 1, 0) > 0, state.revents & Int16(POLLERR) != 0 { throw Closed() }
    }
}

/// The disk is full, for example.
struct OutputFailure: Error, CustomStringConvertible {
    let description: String
}
