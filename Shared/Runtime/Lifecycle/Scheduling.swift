internal import Glibc

/// How the kernel treats the threads of a process.
enum Scheduling {
    /// SCHED_BATCH in <linux/sched.h>, which Swift's import of the C library leaves out.
    private static let batch: Int32 = 3

    /// From now on a thread of this process that has something to do waits for its turn, instead of interrupting what runs
    /// (sched(7), SCHED_BATCH). On a processor that is free it makes no difference; on a busy one more work comes together in a
    /// batch, and fewer switches are made. New threads, and processes started from here, do the same.
    static func waitForTurn() {
        var parameters = sched_param(sched_priority: 0)
        // Where that is not allowed everything works all the same.
        _ = sched_setscheduler(0, batch, &parameters)
    }
}
