import EventSchema
import Runtime
import Synchronization

/// What is known of sessions that have ended: written by the thread that follows the log, read by every request.
final class RevocationMemory: Sendable {
    private struct State {
        var ended: [SessionID: ContinuousClock.Instant] = [:]
        var waiting: [(session: SessionID, waiter: Handoff<Bool>)] = []
        var freshAt: ContinuousClock.Instant?
        var nextSweep = ContinuousClock.now
    }

    /// An access token lives for an hour at most.
    private static let remembered: Duration = .seconds(3_700)
    /// How old knowledge may be: a log may tell its followers half a second late, and together it must not be more than one.
    static let patience: Duration = .milliseconds(500)

    private let state = Mutex(State())

    /// `nil` where it is not known and what is known is too old.
    func isEnded(_ session: SessionID, at now: ContinuousClock.Instant = .now) -> Bool? {
        state.withLock { state in
            if state.ended[session] != nil { return true }
            guard let freshAt = state.freshAt, now - freshAt <= Self.patience else { return nil }
            return false
        }
    }

    func end(_ sessions: [SessionID]) {
        guard !sessions.isEmpty else { return }
        let named = Set(sessions)
        let waiters = state.withLock { state in
            for session in named { state.ended[session] = .now + Self.remembered }
            let done = state.waiting.filter { named.contains($0.session) }
            state.waiting.removeAll { named.contains($0.session) }
            return done
        }
        for entry in waiters { entry.waiter.resume(returning: true) }
    }

    /// Everything that had happened by then is known.
    func isUpToDate(at instant: ContinuousClock.Instant) {
        state.withLock { state in
            state.freshAt = instant
            guard state.nextSweep <= instant else { return }
            state.nextSweep = instant + .seconds(60)
            state.ended = state.ended.filter { $0.value > instant }
        }
    }

    /// Waits until the end of the session is known, or the task is cancelled.
    func settle(_ session: SessionID) async {
        let waiter = Handoff<Bool>()
        let isKnown = state.withLock { state in
            if state.ended[session] != nil { return true }
            state.waiting.append((session, waiter))
            return false
        }
        if isKnown { return }
        await withTaskCancellationHandler {
            if Task.isCancelled { abandon(waiter) }
            _ = await waiter.value
        } onCancel: {
            abandon(waiter)
        }
    }

    private func abandon(_ waiter: Handoff<Bool>) {
        let isWaiting = state.withLock { state in
            guard let place = state.waiting.firstIndex(where: { $0.waiter === waiter }) else { return false }
            state.waiting.remove(at: place)
            return true
        }
        if isWaiting { waiter.resume(returning: false) }
    }
}
