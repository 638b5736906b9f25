import CPostgres
import Glibc

/// Ends a wait on a connection's socket from any thread: an `eventfd`, raised until it is cleared.
public final class WakeSignal: Sendable {
    let descriptor: Int32

    public init() {
        descriptor = latchkey_eventfd()
        precondition(descriptor >= 0, "no file descriptor is left")
    }

    deinit { close(descriptor) }

    public func raise() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, 8)
    }

    /// Waits until the signal is raised, or the time is over.
    public func wait(until deadline: ContinuousClock.Instant?) {
        var own = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while poll(&own, 1, Readiness.milliseconds(until: deadline)) < 0, errno == EINTR {}
    }

    /// Lowers the signal. Returns whether it was raised.
    @discardableResult
    public func clear() -> Bool {
        var count: UInt64 = 0
        return read(descriptor, &count, 8) == 8
    }
}

/// Waits until a descriptor is ready, a signal is raised, or the time is over.
enum Readiness {
    struct Outcome {
        var socket: Int16 = 0
        var isSignalled = false
    }

    static func wait(socket: Int32, for events: Int16, signal: WakeSignal, until deadline: ContinuousClock.Instant?) -> Outcome {
        var descriptors = [
            pollfd(fd: socket, events: events, revents: 0), pollfd(fd: signal.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            let ready = poll(&descriptors, 2, milliseconds(until: deadline))
            if ready < 0, errno == EINTR { continue }
            return Outcome(socket: descriptors[0].revents, isSignalled: descriptors[1].revents != 0)
        }
    }

    /// For `poll`: rounded up, so that it never returns before the deadline; -1 waits for ever.
    static func milliseconds(until deadline: ContinuousClock.Instant?) -> Int32 {
        guard let deadline else { return -1 }
        let left = ContinuousClock.now.duration(to: deadline)
        guard left > .zero else { return 0 }
        let (seconds, attoseconds) = left.components
        return Int32(min(seconds, 86_400) * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
