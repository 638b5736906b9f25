import EventSchema
import Testing

@testable import GatewayService

@Suite struct `What is known of sessions that have ended` {
    private let memory = RevocationMemory()
    private let session = SessionID.random()

    @Test func `is nothing before the log was followed`() {
        #expect(memory.isEnded(session) == nil)
        memory.end([session])
        #expect(memory.isEnded(session) == true)
    }

    @Test func `is good for half a second`() {
        let now = ContinuousClock.now
        memory.isUpToDate(at: now)
        memory.end([session])
        let other = SessionID.random()
        #expect(memory.isEnded(other, at: now + .milliseconds(500)) == false)
        #expect(memory.isEnded(other, at: now + .milliseconds(501)) == nil)
        #expect(memory.isEnded(session, at: now + .seconds(2)) == true)
    }

    @Test func `is forgotten once no token of theirs can live`() {
        memory.end([session])
        let later = ContinuousClock.now + .seconds(3_701)
        memory.isUpToDate(at: later)
        #expect(memory.isEnded(session, at: later) == false)
    }

    @Test func `is waited for`() async {
        let memory = memory
        let session = session
        async let settled: Void = memory.settle(session)
        memory.end([.random(), session])
        await settled
        #expect(memory.isEnded(session) == true)
        // What is known already is not.
        await memory.settle(session)
    }

    @Test func `is not waited for by who has gone`() async {
        let waiting = Task { [memory, session] in await memory.settle(session) }
        waiting.cancel()
        await waiting.value
        memory.isUpToDate(at: .now)
        #expect(memory.isEnded(session) == false)
    }
}
