public import EventSchema
internal import Glibc
internal import Synchronization

/// A file of deliveries, one JSON line each, that any number of processes append to: under a lock on the file, so that one
/// message stands in it once whoever writes it, and durably, before anybody hears that it was delivered.
public final class Outbox: Sendable {
    public struct Failure: Error, Equatable, CustomStringConvertible {
        /// What could not be done, for the operator.
        public var reason: String
        public var description: String { reason }
    }

    public struct Entry: Sendable {
        public var id: MessageID
        public var requestedAt: Timestamp
        /// Without the line feed.
        public var line: [UInt8]

        public init(id: MessageID, requestedAt: Timestamp, line: [UInt8]) {
            self.id = id
            self.requestedAt = requestedAt
            self.line = line
        }
    }

    private struct Known {
        var device: UInt64
        var inode: UInt64
        var index: OutboxIndex
    }

    public let path: String
    private let known = Mutex<Known?>(nil)

    /// How far a line's time, which its writer estimates, may lie before the request of its message.
    private static let clockTolerance = Interval.seconds(30)
    private static let chunk: Int64 = 65_536

    /// Makes the file if it is not there, readable for its owner alone: it holds addresses and codes.
    public init(path: String) throws(Failure) {
        self.path = path
        let file = try open()
        close(file)
    }

    /// Appends the entries that are not in the file yet, durably and in their order, and says of each whether it was new.
    public func append(_ entries: [Entry]) throws(Failure) -> [Bool] {
        try withFile { file, index throws(Failure) in
            let oldest = entries.map(\.requestedAt).min()
            try look(back: oldest, in: file, &index)
            var bytes: [UInt8] = []
            var isNew: [Bool] = []
            var added: Set<MessageID> = []
            for entry in entries {
                let fresh = !index.contains(entry.id) && added.insert(entry.id).inserted
                isNew.append(fresh)
                if fresh { bytes += entry.line + [UInt8(ascii: "\n")] }
            }
            if !bytes.isEmpty { try write(bytes, to: file, &index) }
            if let oldest { index.forget(before: oldest - Self.clockTolerance) }
            return isNew
        }
    }

    /// Whether a message that was asked for at `since` stands in the file.
    public func contains(_ id: MessageID, since: Timestamp) throws(Failure) -> Bool {
        try withFile { file, index throws(Failure) in
            try look(back: since, in: file, &index)
            return index.contains(id)
        }
    }

    // MARK: The file

    private func open() throws(Failure) -> Int32 {
        let file = Glibc.open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Failure(reason: "cannot open \(path): \(Self.error)") }
        return file
    }

    /// Runs `body` under the lock of the file that has the name now, and knows its index.
    private func withFile<Value: Sendable>(
        _ body: (Int32, inout OutboxIndex) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try known.withLock { known throws(Failure) in
            let (file, status) = try openLocked()
            defer { close(file) }
            let (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino))
            var index: OutboxIndex
            if let known, known.device == device, known.inode == inode, known.index.known.upperBound <= status.st_size {
                index = known.index
            } else {
                index = OutboxIndex(end: Int64(status.st_size))
            }
            known = nil  // whatever fails below, the file is looked into anew
            let value = try body(file, &index)
            known = Known(device: device, inode: inode, index: index)
            return value
        }
    }

    /// The lock goes with the descriptor. A file that was moved away while this process waited for it is not the outbox.
    private func openLocked() throws(Failure) -> (Int32, stat) {
        while true {
            let file = try open()
            while flock(file, LOCK_EX) != 0 {
                guard errno == EINTR else {
                    let failure = Failure(reason: "cannot lock \(path): \(Self.error)")
                    close(file)
                    throw failure
                }
            }
            var locked = stat()
            var named = stat()
            if fstat(file, &locked) == 0, stat(path, &named) == 0, locked.st_ino == named.st_ino, locked.st_dev == named.st_dev {
                return (file, locked)
            }
            close(file)
        }
    }

    // MARK: Reading

    /// Learns what others have appended, and what stands in the file from `time` on.
    private func look(back time: Timestamp?, in file: Int32, _ index: inout OutboxIndex) throws(Failure) {
        var status = stat()
        guard fstat(file, &status) == 0 else { throw Failure(reason: "cannot look at \(path): \(Self.error)") }
        let end = Int64(status.st_size)
        if end > index.known.upperBound { index.append(try read(index.known.upperBound..<end, from: file)[...]) }
        guard let time else { return }
        var size = Self.chunk
        while !index.reaches(back: time - Self.clockTolerance) {
            let begin = max(index.known.lowerBound - size, 0)
            let bytes = try read(begin..<index.known.lowerBound, from: file)
            if begin == 0 {
                index.prepend(bytes[...])
            } else if let feed = bytes.firstIndex(of: UInt8(ascii: "\n")), feed + 1 < bytes.count {
                index.prepend(bytes[(feed + 1)...])
            } else {
                size *= 2  // a line longer than what was read
            }
        }
    }

    private func read(_ range: Range<Int64>, from file: Int32) throws(Failure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: range.count)
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeMutableBytes {
                pread(file, $0.baseAddress! + done, $0.count - done, Int(range.lowerBound) + done)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Failure(reason: "cannot read \(path): \(count < 0 ? Self.error : "it became shorter")") }
            done += count
        }
        return bytes
    }

    // MARK: Writing

    /// One write, and on the disk before it counts. What cannot be written whole is taken back.
    private func write(_ lines: [UInt8], to file: Int32, _ index: inout OutboxIndex) throws(Failure) {
        let end = index.known.upperBound
        var bytes = lines
        // A line that a crash has torn ends here, so that it spoils no other.
        if end > 0, try read(end - 1..<end, from: file) != [UInt8(ascii: "\n")] { bytes.insert(UInt8(ascii: "\n"), at: 0) }
        var count = Glibc.write(file, bytes, bytes.count)
        while count < 0, errno == EINTR { count = Glibc.write(file, bytes, bytes.count) }
        guard count == bytes.count, fsync(file) == 0 else {
            let failure = Failure(reason: "cannot write \(path): \(0..<bytes.count ~= count ? "no space" : Self.error)")
            ftruncate(file, Int(end))
            throw failure
        }
        index.append(bytes[...])
    }

    private static var error: String { String(cString: strerror(errno)) }
}
