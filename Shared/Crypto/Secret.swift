import CSodium

/// Bytes that must not be seen: they print as `***` everywhere, compare in constant time, and are wiped from memory when
/// the last copy of the value goes.
public struct Secret: Sendable, Equatable {
    private let storage: Storage

    /// Copies the bytes. What they were copied from is the caller's to forget; `init(wiping:)` does that too.
    public init(_ bytes: [UInt8]) {
        storage = bytes.withUnsafeBytes { Storage(copying: $0) }
    }

    /// Takes the bytes over: the array is empty afterwards, and zeros stand where its bytes stood (if nobody else shares
    /// its storage).
    public init(wiping bytes: inout [UInt8]) {
        Sodium.start()
        storage = bytes.withUnsafeBytes { Storage(copying: $0) }
        bytes.withUnsafeMutableBytes { if let start = $0.baseAddress { sodium_memzero(start, $0.count) } }
        bytes = []
    }

    /// New random bytes.
    public static func random(count: Int) -> Secret {
        Secret(count: count) { buffer in
            if let start = buffer.baseAddress { randombytes_buf(start, buffer.count) }
        }
    }

    /// `fill` writes the bytes where they will stay, so that no other copy is made. They are zeros before it.
    init(count: Int, fill: (UnsafeMutableRawBufferPointer) -> Void) {
        Sodium.start()
        storage = Storage(zeros: count)
        fill(storage.buffer)
    }

    public var count: Int { storage.buffer.count }

    /// Lends the bytes for the time of the call. The pointer must not leave it.
    public func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // `storage` must outlive the call, not just the last use of its pointer.
        defer { withExtendedLifetime(storage) {} }
        return try body(UnsafeRawBufferPointer(storage.buffer))
    }

    public static func == (left: Secret, right: Secret) -> Bool {
        left.count == right.count
            && left.withBytes { left in
                right.withBytes { right in left.isEmpty || sodium_memcmp(left.baseAddress!, right.baseAddress!, left.count) == 0 }
            }
    }

    /// `@unchecked`: written only by the initialiser that makes it, read only from then on, wiped by the last owner.
    private final class Storage: @unchecked Sendable {
        let buffer: UnsafeMutableRawBufferPointer

        init(zeros count: Int) {
            buffer = .allocate(byteCount: count, alignment: 16)
            buffer.initializeMemory(as: UInt8.self, repeating: 0)
        }

        convenience init(copying bytes: UnsafeRawBufferPointer) {
            self.init(zeros: bytes.count)
            buffer.copyMemory(from: bytes)
        }

        deinit {
            if let start = buffer.baseAddress { sodium_memzero(start, buffer.count) }
            buffer.deallocate()
        }
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "***" }
    public var debugDescription: String { "***" }
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
