import Glibc

/// Reads codes from the console's outbox as they are written, by the number of the identifier that they went to.
struct Outbox {
    /// Readable when something was written.
    let descriptor: Int32
    private let file: Int32
    private var rest: [UInt8] = []
    private var chunk = [UInt8](repeating: 0, count: 1 << 18)

    /// Starts behind what stands there already. `nil` where there is no such file.
    init?(_ path: String) {
        file = open(path, O_RDONLY | O_CLOEXEC)
        descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        guard file >= 0, descriptor >= 0, inotify_add_watch(descriptor, path, UInt32(IN_MODIFY)) >= 0 else { return nil }
        lseek(file, 0, Int32(SEEK_END))
    }

    /// Everything new.
    mutating func read(_ deliver: (_ number: UInt32, _ code: [UInt8]) -> Void) {
        while Glibc.read(descriptor, &chunk, chunk.count) > 0 {}
        while true {
            let count = Glibc.read(file, &chunk, chunk.count)
            guard count > 0 else { return }
            rest += chunk[..<count]
            let read = rest.withUnsafeBytes { Self.parse($0, deliver) }
            rest.removeFirst(read)
        }
    }

    /// Returns how many bytes whole lines took.
    private static func parse(_ text: UnsafeRawBufferPointer, _ deliver: (UInt32, [UInt8]) -> Void) -> Int {
        var start = 0
        while true {
            let rest = UnsafeRawBufferPointer(rebasing: text[start...])
            guard let end = rest.position(behind: "\n", within: rest.count) else { return start }
            start += end
            guard var index = rest.position(behind: #""to":"n"#, within: end),
                let code = rest.position(behind: #""code":""#, within: end), code + 6 <= end
            else { continue }
            var number: UInt32 = 0
            while rest[index] >= 0x30, rest[index] <= 0x39 {
                number = number &* 10 &+ UInt32(rest[index] - 0x30)
                index += 1
            }
            deliver(number, Array(rest[code..<code + 6]))
        }
    }
}
