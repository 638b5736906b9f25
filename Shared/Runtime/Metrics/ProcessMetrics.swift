import Glibc

/// What the kernel knows of this process, under the names that Prometheus' own clients use.
public enum ProcessMetrics {
    public static func register(in metrics: Metrics) {
        metrics.collect {
            var samples = [
                Sample("process_cpu_seconds_total", "CPU time spent, in seconds.", .counter, value: cpuSeconds())
            ]
            if let bytes = residentBytes() {
                samples.append(
                    Sample("process_resident_memory_bytes", "Resident memory, in bytes.", .gauge, value: Double(bytes)))
            }
            if let count = openDescriptors() {
                samples.append(Sample("process_open_fds", "Open file descriptors.", .gauge, value: Double(count)))
            }
            var limit = rlimit()
            if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
                samples.append(
                    Sample("process_max_fds", "Most file descriptors there can be.", .gauge, value: Double(limit.rlim_cur)))
            }
            if let start = startSeconds() {
                samples.append(
                    Sample("process_start_time_seconds", "When the process started, in seconds since 1970.", .gauge, value: start)
                )
            }
            return samples
        }
    }

    /// Resident memory in bytes.
    public static func residentBytes() -> Int? {
        guard let text = SmallFile.text(at: "/proc/self/statm") else { return nil }
        let fields = text.split(separator: " ")
        guard fields.count > 1, let pages = Int(fields[1]) else { return nil }
        return pages * sysconf(Int32(_SC_PAGESIZE))
    }

    static func cpuSeconds() -> Double {
        var usage = rusage()
        getrusage(RUSAGE_SELF.rawValue, &usage)
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }

    static func openDescriptors() -> Int? {
        guard let directory = opendir("/proc/self/fd") else { return nil }
        defer { closedir(directory) }
        var entries = 0
        while readdir(directory) != nil { entries += 1 }
        // Not `.`, not `..`, and not the directory that is being read.
        return entries - 3
    }

    static func startSeconds() -> Double? {
        guard let stat = SmallFile.text(at: "/proc/self/stat"), let boot = SmallFile.text(at: "/proc/stat") else { return nil }
        // The second field is a name that may contain anything, so fields are counted from its closing parenthesis.
        guard let end = stat.lastIndex(of: ")") else { return nil }
        let fields = stat[stat.index(after: end)...].split(separator: " ")
        guard fields.count > 19, let ticks = Double(fields[19]) else { return nil }
        guard let line = boot.split(separator: "\n").first(where: { $0.hasPrefix("btime ") }),
            let booted = Double(line.dropFirst(6))
        else { return nil }
        return booted + ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
}
