import Runtime
import Testing

@Suite struct ReadinessTests {
    @Test func `a service is ready when no part is missing`() {
        let readiness = Readiness()
        #expect(readiness.isReady)
        readiness.expect("log")
        readiness.expect("keys", "waiting for identity")
        #expect(!readiness.isReady)
        readiness.set("log", ready: true)
        readiness.expect("log")
        #expect(readiness.obstacles.map(\.name) == ["keys"])
        #expect(readiness.obstacles.map(\.obstacle) == ["waiting for identity"])
        readiness.set("keys", ready: true)
        #expect(readiness.isReady)
        readiness.set("log", ready: false, "away")
        #expect(readiness.obstacles.map(\.obstacle) == ["away"])
    }
}
