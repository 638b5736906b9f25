import Testing

/// Waits until something holds; gives up after a time that only a broken system needs.
func eventually(
    _ what: Comment, within limit: Duration = .seconds(60), sourceLocation: SourceLocation = #_sourceLocation,
    _ holds: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + limit
    while true {
        if try await holds() { return }
        guard ContinuousClock.now < end else {
            Issue.record(what, sourceLocation: sourceLocation)
            throw NeverHeld()
        }
        try await Task.sleep(for: .milliseconds(10))
    }
}

struct NeverHeld: Error {}
