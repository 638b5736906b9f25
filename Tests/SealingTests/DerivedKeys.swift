import Crypto
import EventSchema
import Testing

@testable import Sealing

@Suite struct DerivedKeys {
    @Test func `the same secret gives the same key on every instance`() throws {
        let secret = Secret.random(count: 32)
        let (first, second) = (
            DerivedSealingKey(service: .verification, secret: secret), DerivedSealingKey(service: .verification, secret: secret)
        )
        #expect(first.id == second.id && first.pair.publicKey == second.pair.publicKey)
        let recipient = RecipientKey(id: first.id, publicKey: first.pair.publicKey)
        let box = try BoxSealer().seal([1, 2], to: recipient, context: [3])
        #expect(second.opener().open(box, context: [3]) == [1, 2])
    }

    @Test func `another secret or service gives another key with another name`() {
        let secret = Secret.random(count: 32)
        let keys = [
            DerivedSealingKey(service: .verification, secret: secret), DerivedSealingKey(service: .identity, secret: secret),
            DerivedSealingKey(service: .verification, secret: .random(count: 32)),
        ]
        #expect(Set(keys.map(\.id)).count == 3)
        #expect(Set(keys.map(\.pair.publicKey)).count == 3)
    }

    @Test func `it is usable at any time, whatever the clock said when it was published`() throws {
        let published = DerivedSealingKey(service: .verification, secret: .random(count: 32)).published
        let directory = KeyDirectory(authenticator: try authenticator())
        #expect(try directory.apply(published.record(at: 0)) == .learned(published))
        for time in [morning - .days(3), morning, morning + .days(365_000)] {
            #expect(directory.recipient(.verification, at: time)?.id == published.key)
        }
    }
}
