import Synchronization

/// One system for all tests of a suite, started by the first of them.
actor Shared {
    private let settings: [String: String]
    private let scale: [String: Int]
    private var starting: Task<LatchkeySystem, any Error>?

    init(_ settings: [String: String] = [:], scale: [String: Int] = [:]) {
        self.settings = settings
        self.scale = scale
    }

    func system() async throws -> LatchkeySystem {
        let task = starting ?? Task { [settings, scale] in try await LatchkeySystem.started(settings, scale: scale) }
        starting = task
        return try await task.value
    }
}
