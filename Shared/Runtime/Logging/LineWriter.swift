import Glibc
import Synchronization

/// Gathers lines of all threads, and writes them to a descriptor, all that has come at once.
///
/// Whoever writes holds `writing`; whoever adds a line holds `state`, and waits for nobody else. What is gathered lies in
/// `bytes` between `written` and `filled`, in order, and does not move before it is written: the reason for `@unchecked`.
final class LineWriter: @unchecked Sendable {
    private struct State {
        /// Lines that nobody will see, since the last that could be added.
        var lost = 0
        /// The thread waits to be woken.
        var isIdle = false
    }

    private struct Writing {
        /// The reader does not take anything.
        var isStalled = false
        var isStopped = false
    }

    private let descriptor: Int32
    private let bytes: UnsafeMutableRawBufferPointer
    private let filled = Atomic<Int>(0)
    private let written = Atomic<Int>(0)
    private let state = Mutex(State())
    private let writing = Mutex(Writing())
    private let pause = Mailbox<Never>()

    /// How long the thread lets lines gather, in microseconds: under load a write costs more than making the line.
    private static let rest: UInt32 = 5_000
    /// How long one who has to write waits for a reader, in milliseconds.
    private static let patience: Int32 = 50

    /// - Parameter capacity: in bytes; at least two lines.
    init(descriptor: Int32, capacity: Int) {
        self.descriptor = descriptor
        bytes = .allocate(byteCount: max(capacity, 2 * LogEntry.byteLimit), alignment: 1)
        OwnedThread.start(name: "log") { self.work() }
    }

    deinit { bytes.deallocate() }

    // MARK: Adding

    /// A line that finds no room has whoever brings it write, so that nothing is lost as long as somebody reads.
    ///
    /// - Parameter notice: the line that says how many were lost before.
    func add(_ line: [UInt8], noticing notice: (_ lost: Int) -> [UInt8]) {
        if append(line, notice) { return }
        write()
        if append(line, notice) { return }
        state.withLock { $0.lost += 1 }
    }

    private func append(_ line: [UInt8], _ notice: (_ lost: Int) -> [UInt8]) -> Bool {
        let (isTaken, mustWake) = state.withLock { state in
            var end = filled.load(ordering: .relaxed)
            let before = state.lost > 0 ? notice(state.lost) : []
            guard bytes.count - end >= before.count + line.count else { return (false, false) }
            for part in [before, line] where !part.isEmpty {
                UnsafeMutableRawBufferPointer(rebasing: bytes[end..<(end + part.count)]).copyBytes(from: part)
                end += part.count
            }
            state.lost = 0
            filled.store(end, ordering: .releasing)
            defer { state.isIdle = false }
            return (true, state.isIdle)
        }
        if mustWake { pause.wake() }
        return isTaken
    }

    // MARK: Writing

    /// Writes all that a reader takes at once, and then never again.
    func stop() {
        write()
        writing.withLock { $0.isStopped = true }
        pause.wake()
    }

    private func work() {
        while !writing.withLock({ $0.isStopped }) {
            write()
            // Whoever waits for room, or for a line to be out, writes by themselves.
            usleep(Self.rest)
            let isIdle = state.withLock { state in
                state.isIdle = filled.load(ordering: .relaxed) == 0
                return state.isIdle
            }
            if isIdle { _ = pause.receive(within: nil) }
        }
    }

    /// Writes all that was gathered. Waits for a reader that stalls no longer than a moment, and not at all for one that has
    /// been doing so.
    func write() {
        writing.withLock { writing in
            while !writing.isStopped, !isEmptied {
                guard isWritable(within: writing.isStalled ? 0 : Self.patience) else {
                    writing.isStalled = true
                    return
                }
                writing.isStalled = false
                writeSome()
            }
        }
    }

    /// Begins at the front again where everything is written.
    private var isEmptied: Bool {
        guard written.load(ordering: .relaxed) == filled.load(ordering: .acquiring) else { return false }
        return state.withLock { _ in
            guard written.load(ordering: .relaxed) == filled.load(ordering: .relaxed) else { return false }
            filled.store(0, ordering: .releasing)
            written.store(0, ordering: .releasing)
            return true
        }
    }

    private func isWritable(within milliseconds: Int32) -> Bool {
        var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        while true {
            let count = Glibc.poll(&poll, 1, milliseconds)
            if count < 0 && errno == EINTR { continue }
            return count == 1 && poll.revents & Int16(POLLOUT) != 0
        }
    }

    private func writeSome() {
        let piece = piece(from: written.load(ordering: .relaxed), to: filled.load(ordering: .acquiring))
        let count = Glibc.write(descriptor, piece.baseAddress, piece.count)
        if count >= 0 {
            written.add(count, ordering: .releasing)
        } else if errno != EINTR && errno != EAGAIN {
            // The reader went away, or the disk is full.
            state.withLock { $0.lost += piece.count { $0 == UInt8(ascii: "\n") } }
            written.add(piece.count, ordering: .releasing)
        }
    }

    /// Whole lines, as many as a pipe takes in one piece: those of several threads or processes never mix.
    private func piece(from start: Int, to end: Int) -> UnsafeRawBufferPointer {
        let most = UnsafeRawBufferPointer(rebasing: bytes[start..<min(end, start + LogEntry.byteLimit)])
        var count = most.count
        while count > 0, most[count - 1] != UInt8(ascii: "\n") { count -= 1 }
        return count > 0 ? UnsafeRawBufferPointer(rebasing: most[..<count]) : most
    }

    /// Writes what is left while the process dies, whoever holds the locks and writes meanwhile: some of it perhaps twice. Gives
    /// up where the reader stalls. Only what a signal handler may do.
    func writeLastWords() {
        var (start, end) = unwritten
        while start < end, isWritable(within: Self.patience) {
            let piece = piece(from: start, to: end)
            let count = Glibc.write(descriptor, piece.baseAddress, piece.count)
            if count > 0 { start += count } else if count == 0 || errno != EINTR { return }
        }
    }

    /// From where to where, though another thread may begin at the front again between the two.
    private var unwritten: (start: Int, end: Int) {
        var start = written.load(ordering: .acquiring)
        for _ in 0..<100 {
            let end = filled.load(ordering: .acquiring)
            let again = written.load(ordering: .acquiring)
            if again == start, start <= end { return (start, end) }
            start = again
        }
        return (start, start)
    }
}
