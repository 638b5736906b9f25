import EventSchema
import NotifierDomain
import Testing

@testable import NotifierService

@Suite struct DispatchTableTests {
    private let noon = Timestamp(milliseconds: 1_800_000_000_000)
    private let send = MessageID.random()

    private func attempt(_ number: Int = 1) -> DeliveryAttempted {
        DeliveryAttempted(
            send: send, subject: Subject(bytes: [UInt8](repeating: 1, count: 16))!, attempt: number, provider: "console",
            purpose: .emailVerification, channel: .email, requestedAt: noon, expiresAt: noon + .minutes(5), recipient: nil,
            code: nil)
    }

    private func open(_ state: Delivery.State, isOwn: Bool = false) -> DispatchTable.Input {
        .open([.init(send: .init(id: send, partition: 3, state: state, writer: ""), isOwn: isOwn)])
    }

    private func concluded(_ number: Int = 1) -> DispatchTable.Action {
        .submit(.concluded(send, attempt: number, .delivered(providerID: nil), jitter: 0.5), partition: 3)
    }

    private func feed(_ table: inout DispatchTable, _ input: DispatchTable.Input, at now: Timestamp? = nil) -> [DispatchTable
        .Action]
    {
        table.handle(input, at: now ?? noon, jitter: { 0.5 })
    }

    @Test func `an attempt of this process is delivered once, and the loop hears how it ended`() {
        var table = DispatchTable()
        #expect(feed(&table, .attempted(attempt(), partition: 3, isOwn: true)) == [.deliver(attempt(), isRepeat: false)])
        #expect(feed(&table, .attempted(attempt(), partition: 3, isOwn: true)).isEmpty)
        #expect(feed(&table, .concluded(send, attempt: 1, .delivered(providerID: nil))) == [concluded()])
        #expect(feed(&table, .ended(send)).isEmpty)
        #expect(table.count == 0)
    }

    @Test func `an attempt of another process may have been made already`() {
        var table = DispatchTable()
        #expect(feed(&table, .attempted(attempt(), partition: 3, isOwn: false)) == [.deliver(attempt(), isRepeat: true)])
    }

    @Test func `open attempts are taken up after a take-over`() {
        var table = DispatchTable()
        #expect(feed(&table, open(.attempting(attempt()))) == [.deliver(attempt(), isRepeat: true)])
        #expect(feed(&table, open(.attempting(attempt()))).isEmpty)
    }

    @Test func `an own attempt that was never begun is taken up as the first`() {
        var table = DispatchTable()
        #expect(feed(&table, open(.attempting(attempt()), isOwn: true)) == [.deliver(attempt(), isRepeat: false)])
        // What the loop told meanwhile.
        #expect(feed(&table, .attempted(attempt(), partition: 3, isOwn: true)).isEmpty)
    }

    @Test func `an own attempt that was begun before the partition went away is repeated`() {
        var table = DispatchTable()
        _ = feed(&table, .attempted(attempt(), partition: 3, isOwn: true))
        _ = feed(&table, .released([3]))
        #expect(table.count == 0)
        #expect(feed(&table, .concluded(send, attempt: 1, .delivered(providerID: nil))).isEmpty)
        #expect(feed(&table, open(.attempting(attempt()), isOwn: true)) == [.deliver(attempt(), isRepeat: true)])
    }

    @Test func `an outcome that got lost is told again`() {
        var table = DispatchTable()
        _ = feed(&table, .attempted(attempt(), partition: 3, isOwn: true))
        _ = feed(&table, .concluded(send, attempt: 1, .delivered(providerID: nil)))
        #expect(feed(&table, open(.attempting(attempt()))) == [concluded()])
    }

    @Test func `only partitions that went away are forgotten`() {
        var table = DispatchTable()
        _ = feed(&table, .attempted(attempt(), partition: 3, isOwn: true))
        _ = feed(&table, .released([1, 2]))
        #expect(table.count == 1)
    }

    @Test func `an outcome of another attempt is dropped`() {
        var table = DispatchTable()
        _ = feed(&table, .attempted(attempt(2), partition: 3, isOwn: true))
        #expect(feed(&table, .concluded(send, attempt: 1, .delivered(providerID: nil))).isEmpty)
        #expect(feed(&table, .concluded(.random(), attempt: 1, .delivered(providerID: nil))).isEmpty)
    }

    // MARK: Retries

    @Test func `a retry is asked for when it is due, and again until it is decided`() {
        var table = DispatchTable()
        let due = DispatchTable.Action.submit(.due(send), partition: 3)
        #expect(feed(&table, .failed(send, retryAt: noon + .seconds(2), partition: 3)).isEmpty)
        #expect(table.due == noon + .seconds(2))
        #expect(feed(&table, .tick, at: noon + .milliseconds(1_999)).isEmpty)
        #expect(feed(&table, .tick, at: noon + .seconds(2)) == [due])
        #expect(feed(&table, .tick, at: noon + .milliseconds(2_500)).isEmpty)
        #expect(feed(&table, .tick, at: noon + .seconds(3)) == [due])
        #expect(feed(&table, .attempted(attempt(2), partition: 3, isOwn: true)) == [.deliver(attempt(2), isRepeat: false)])
        #expect(feed(&table, .tick, at: noon + .seconds(9)).isEmpty)
        #expect(table.due == nil)
    }

    @Test func `a retry that is due at once is asked for at once`() {
        var table = DispatchTable()
        #expect(feed(&table, .failed(send, retryAt: noon, partition: 3)) == [.submit(.due(send), partition: 3)])
    }

    @Test func `waiting sends are taken up after a take-over`() {
        var table = DispatchTable()
        #expect(feed(&table, open(.waiting(attempt(), retryAt: noon - .seconds(1)))) == [.submit(.due(send), partition: 3)])
        #expect(feed(&table, open(.failed(attempt()))).isEmpty)
        #expect(feed(&table, open(.unknown(attempt()))).isEmpty)
    }

    // MARK: Handing over again

    @Test func `what may have been taken is handed over again, ever more slowly`() {
        var table = DispatchTable()
        _ = feed(&table, .attempted(attempt(), partition: 3, isOwn: true))
        var now = noon
        for wait in [1, 2, 4, 8, 16, 30, 30] as [Int64] {
            #expect(feed(&table, .unsure(send, attempt: 1), at: now).isEmpty)
            #expect(feed(&table, .tick, at: now + .seconds(wait) - .milliseconds(1)).isEmpty)
            now = now + .seconds(wait)
            #expect(feed(&table, .tick, at: now) == [.deliver(attempt(), isRepeat: true)])
        }
    }

    @Test func `what could not be handed over yet stays the first time`() {
        var table = DispatchTable()
        _ = feed(&table, .attempted(attempt(), partition: 3, isOwn: true))
        #expect(feed(&table, .postponed(send, attempt: 1, isRepeat: false)).isEmpty)
        #expect(feed(&table, .tick, at: noon + .milliseconds(200)) == [.deliver(attempt(), isRepeat: false)])
    }
}
