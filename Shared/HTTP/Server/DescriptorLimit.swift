import Glibc

/// How many files and sockets the process may have open.
enum DescriptorLimit {
    /// What the rest of the process may need beside connections.
    private static let reserve = 256

    /// Raises the soft limit as far as `connections` need and the hard limit allows. Returns how many connections there is
    /// room for: running out of descriptors would stop more than the next connection.
    static func makeRoom(for connections: Int) -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return connections }
        let needed = rlim_t(connections + reserve)
        if limit.rlim_cur < needed {
            limit.rlim_cur = min(needed, limit.rlim_max)
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        }
        let room = Int(clamping: limit.rlim_cur)
        return min(connections, max(room - reserve, room / 2))
    }
}
