internal import CKafka
internal import EventLog
internal import Glibc

/// A descriptor that librdkafka's queues and other threads write to, so that one poll(2) waits for all of them. Whoever may
/// still write holds a reference: the number is not given to another file before.
final class KafkaSignal: Sendable {
    let descriptor: Int32

    init() throws(LogError) {
        descriptor = latchkey_signal_open()
        guard descriptor >= 0 else { throw LogError(.unavailable, "no file descriptor is left for a consumer") }
    }

    deinit { Glibc.close(descriptor) }

    func raise() { latchkey_signal_raise(descriptor) }
    func clear() { latchkey_signal_clear(descriptor) }

    /// Blocks until somebody raised it, at most so long.
    func wait(_ timeout: Duration) {
        let (seconds, attoseconds) = timeout.components
        // Rounded up: a wait of less than a millisecond must not spin.
        let milliseconds = seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        Glibc.poll(&entry, 1, Int32(clamping: milliseconds))
    }

    /// Lets a queue raise it whenever something comes into it.
    func watch(_ queue: OpaquePointer) {
        // eventfd takes eight bytes: the number that is added.
        var one: UInt64 = 1
        rd_kafka_queue_io_event_enable(queue, descriptor, &one, MemoryLayout<UInt64>.size)
    }
}
