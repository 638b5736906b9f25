import Runtime
import Testing

@Suite struct HandoffTests {
    /// Nothing guards it but the way it is handed over.
    private final class Plain: @unchecked Sendable {
        var number = 0
    }

    @Test func `a value that is there before anybody waits is handed over`() async {
        let handoff = Handoff<Int>()
        handoff.resume(returning: 7)
        let value = await handoff.value
        #expect(value == 7)
    }

    /// Under Thread Sanitizer, this fails when a value is handed over by the continuation: many are resumed before their task
    /// has suspended.
    @Test func `what a thread wrote before is seen by the task`() async {
        for round in 1...2_000 {
            let handoff = Handoff<Plain>()
            OwnedThread.start(name: "handoff") {
                let plain = Plain()
                plain.number = round
                handoff.resume(returning: plain)
            }
            let plain = await handoff.value
            #expect(plain.number == round)
        }
    }
}
