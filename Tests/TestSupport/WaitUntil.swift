/// Waits until a state is reached, looking at it again and again. Returns what `find` found, or `nil` when it took too long.
public func waitUntil<Value: Sendable>(
    within limit: Duration = .seconds(60), _ find: () async throws -> Value?
) async throws -> Value? {
    let deadline = ContinuousClock.now + limit
    var pause: Duration = .milliseconds(2)
    while true {
        if let value = try await find() { return value }
        guard ContinuousClock.now < deadline else { return nil }
        try await Task.sleep(for: pause)
        // Looking is work too, and must not keep others from theirs.
        pause = min(pause * 2, .milliseconds(50))
    }
}

/// Waits until a condition holds. Returns whether it does.
public func waitUntil(within limit: Duration = .seconds(60), _ condition: () async throws -> Bool) async throws -> Bool {
    try await waitUntil(within: limit) { try await condition() ? true : nil } ?? false
}
