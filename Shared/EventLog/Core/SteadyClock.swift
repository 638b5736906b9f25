internal import EventSchema
internal import Glibc

/// This process's steady clock: it runs on while the process is stopped, and nobody can set it.
enum SteadyClock {
    static var now: LocalInstant {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return LocalInstant(milliseconds: Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000)
    }
}

extension SteadyClock {
    /// Blocks this thread, which is one of ours.
    static func rest(_ interval: Interval) { usleep(UInt32(interval.milliseconds * 1_000)) }
}
