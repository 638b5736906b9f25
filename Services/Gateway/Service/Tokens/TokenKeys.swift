import Crypto
import Synchronization

/// The public keys of Identity, kept in memory and read again now and then, and for a key that is not known, at a bounded rate.
/// Those that were read stay good while nothing can be read.
public struct TokenKeys: Sendable {
    private final class Memory: Sendable {
        struct State {
            var keys: [PublishedKey] = []
            /// Grows with every change of the keys.
            var version = 0
            var loaded: ContinuousClock.Instant?
            var tried: ContinuousClock.Instant?
        }

        let state = Mutex(State())
    }

    /// After this time what was read is read again: a key that was withdrawn counts no longer.
    private let lifetime: Duration
    /// Tokens under unknown keys lead to one reading in this time, however many they are.
    private let pause: Duration
    private let memory: Memory
    private let loads: Batcher<Void, [PublishedKey]>

    public init(_ source: any PublishedKeys, lifetime: Duration = .seconds(1), pause: Duration = .seconds(1)) {
        self.lifetime = lifetime
        self.pause = pause
        let memory = Memory()
        self.memory = memory
        loads = Batcher(limit: .max) { waiting in
            let keys = try await source.load()
            memory.state.withLock { state in
                if state.keys != keys { state.version += 1 }
                state.keys = keys
                state.loaded = .now
            }
            return waiting.map { keys }
        }
    }

    /// All keys. Throws while none were ever read and none can be.
    public func all() async throws -> [PublishedKey] { try await keys { _ in true } }

    /// The key of that name; `nil` where there is none.
    func key(_ id: String) async throws -> VerificationKey? {
        try await keys { keys in keys.contains { $0.id == id } }.first { $0.id == id }?.key
    }

    /// Another one after every change of the keys: what was checked before it has to be checked again.
    func version() async throws -> Int {
        _ = try await all()
        return memory.state.withLock { $0.version }
    }

    /// Those in memory, if they are good enough, or else those that are read now.
    private func keys(_ suffice: ([PublishedKey]) -> Bool) async throws -> [PublishedKey] {
        let now = ContinuousClock.now
        let (known, isLoaded, mustLoad) = memory.state.withLock { state -> ([PublishedKey], Bool, Bool) in
            let isLoaded = state.loaded != nil
            let isFresh = state.loaded.map { now < $0 + lifetime } ?? false
            let mayTry = state.tried.map { now >= $0 + pause } ?? true
            // Before the first reading everybody waits for it.
            let mustLoad = !isLoaded || mayTry && !(isFresh && suffice(state.keys))
            if mustLoad { state.tried = now }
            return (state.keys, isLoaded, mustLoad)
        }
        guard mustLoad else { return known }
        do {
            return try await loads.ask(())
        } catch {
            guard isLoaded else { throw error }
            return known
        }
    }
}
