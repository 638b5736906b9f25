import EventSchema
import NotifierDomain
import Testing

@testable import NotifierService

@Suite struct AnswerTests {
    /// A gateway waits for Verification's answer, and the event that asks for a send still carries its address.
    @Test func `only an attempt that an operator asked for is answered`() throws {
        let partition = DeliveryPartition(routes: [:])
        let noon = Timestamp(milliseconds: 1_800_000_000_000)
        let subject = try #require(Subject(bytes: [UInt8](repeating: 1, count: 16)))
        func isAnswered(attempt: Int) -> Bool {
            let attempted = DeliveryAttempted(
                send: .random(), subject: subject, attempt: attempt, provider: "console", purpose: .emailVerification,
                channel: .email,
                requestedAt: noon, expiresAt: noon + .minutes(5), recipient: nil, code: nil)
            return partition.answer(to: DeliveryEvent(subject: subject, content: .deliveryAttempted(attempted))) != nil
        }
        #expect(!isAnswered(attempt: 1))
        #expect(isAnswered(attempt: 2))
    }
}
