import Crypto
import EventSchema
import HTTP
import JSON
import Testing

@testable import GatewayService

@Suite struct `What a user was told` {
    private let routing = Routing(secret: Secret(Array(repeating: 7, count: 32)))
    private let answers = UserAnswers(partitions: 1, limit: 3)
    private let home: RoutingKey
    private let user: UserID
    private let now = ContinuousClock.now

    init() {
        home = routing.subject(kind: .email, canonical: "user@example.com").routingKey
        user = routing.userID(for: home)
        answers.begin(at: [0: 10])
        answers.isUpToDate(at: now)
    }

    private func told(_ text: String = "it", asOf position: Int64, at time: ContinuousClock.Instant? = nil) {
        answers.keep(.text(text), to: user, at: home, asOf: position, now: time ?? now)
    }

    private func answer(at time: ContinuousClock.Instant? = nil) -> Response? {
        answers.answer(to: user, at: home, now: time ?? now)
    }

    @Test func `is told again, to this user alone`() {
        told(asOf: 10)
        #expect(answer() == .text("it"))
        #expect(answers.answer(to: routing.userID(for: home), at: home, now: now) == nil)
    }

    @Test func `is forgotten after a minute`() {
        told(asOf: 10)
        let later = now + .seconds(60)
        answers.isUpToDate(at: later - .milliseconds(1))
        #expect(answer(at: later - .milliseconds(1)) != nil)
        answers.isUpToDate(at: later)
        #expect(answer(at: later) == nil)
        // Not only hidden.
        #expect(answer(at: later - .milliseconds(1)) == nil)
    }

    @Test func `is forgotten with an event of the home, and of no other`() {
        told(asOf: 10)
        answers.read(10, of: routing.subject(kind: .email, canonical: "other@example.com").routingKey, in: 0)
        #expect(answer() != nil)
        answers.read(11, of: home, in: 0)
        #expect(answer() == nil)
    }

    @Test(arguments: [(Int64(11), false), (12, true), (13, true)])
    func `before an event that was read meanwhile is not kept`(position: Int64, isKept: Bool) {
        answers.read(11, of: home, in: 0)
        told(asOf: position)
        #expect((answer() != nil) == isKept)
    }

    @Test func `before the reading began is not kept`() {
        told(asOf: 9)
        #expect(answer() == nil)
    }

    @Test func `is not kept while nothing is read of its partition`() {
        answers.begin(at: [:])
        answers.isUpToDate(at: now)
        told(asOf: 10)
        #expect(answer() == nil)
    }

    @Test func `is not kept where so many events were read that this one's are not known any more`() {
        answers.read(11, of: home, in: 0)
        for number in 0..<3 {
            let other = routing.subject(kind: .email, canonical: "\(number)@example.com").routingKey
            answers.read(12 + Int64(number), of: other, in: 0)
        }
        told(asOf: 11)
        #expect(answer() == nil)
        told(asOf: 12)
        #expect(answer() != nil)
    }

    @Test func `is not told while the log is not read`() {
        told(asOf: 10)
        #expect(answer(at: now + .seconds(1)) != nil)
        #expect(answer(at: now + .milliseconds(1_001)) == nil)
        answers.isUpToDate(at: now + .seconds(2))
        #expect(answer(at: now + .seconds(2)) != nil)
    }

    @Test func `is forgotten where reading begins anew`() {
        told(asOf: 10)
        answers.begin(at: [0: 10])
        answers.isUpToDate(at: now)
        #expect(answer() == nil)
    }

    @Test func `is forgotten where this gateway changed it, and not kept again before that must have been read`() {
        told(asOf: 10)
        answers.changed(home, now: now)
        #expect(answer() == nil)
        told(asOf: 10)
        #expect(answer() == nil)
        told(asOf: 10, at: now + .seconds(2))
        #expect(answer() != nil)
    }

    @Test func `goes when there are too many, the oldest first`() {
        let users = (0..<5).map { number in
            let home = routing.subject(kind: .email, canonical: "\(number)@example.com").routingKey
            return (user: routing.userID(for: home), home: home)
        }
        for entry in users { answers.keep(.text("it"), to: entry.user, at: entry.home, asOf: 10, now: now) }
        let known = users.map { answers.answer(to: $0.user, at: $0.home, now: now) != nil }
        #expect(known == [false, false, true, true, true])
    }
}

@Suite struct `The answer to a user who asks again` {
    private let gateway = TestGateway()
    private let caller: Caller
    private let home: RoutingKey

    init() {
        caller = gateway.user()
        home = gateway.routing.routingKey(of: caller.user)
        gateway.users.begin(at: Dictionary(uniqueKeysWithValues: (0..<12).map { ($0, 0) }))
        gateway.users.isUpToDate(at: .now + .seconds(3_600))
    }

    private var asked: Int { gateway.path.commands.count { $0.message is ReadUser } }

    private func tell(_ name: String, asOf position: Int64?) {
        gateway.path.answer { _ in
            var data = TestGateway.signedIn.data?.object ?? [:]
            data["profile"] = ["displayName": .string(name)]
            data["asOf"] = position.map { .integer($0) }
            return Reply(outcome: .ok, data: .object(data))
        }
    }

    private func name() async -> String? {
        let response = await gateway.send(.get, "/auth/me", as: caller)
        #expect(response.headers["Cache-Control"] == "no-store")
        return response.json?["data"]?["user"]?["profile"]?["displayName"]?.string
    }

    @Test func `comes from memory until an event says something else`() async {
        tell("Zoe", asOf: 5)
        for _ in 0..<3 { #expect(await name() == "Zoe") }
        #expect(asked == 1)
        tell("Ann", asOf: 8)
        gateway.users.read(7, of: home, in: home.partition(among: 12))
        for _ in 0..<3 { #expect(await name() == "Ann") }
        #expect(asked == 2)
    }

    @Test func `is asked for each time where it does not say as of when it is, or is an error`() async {
        tell("Zoe", asOf: nil)
        for _ in 0..<2 { #expect(await name() == "Zoe") }
        #expect(asked == 2)
        gateway.path.answer { _ in Reply(outcome: .unauthenticated, data: ["asOf": 5]) }
        for _ in 0..<2 { #expect(await gateway.send(.get, "/auth/me", as: caller).status == .unauthorized) }
        #expect(asked == 4)
    }

    @Test(arguments: ["profile", "confirm", "reset"]) func `knows of what this gateway did`(change: String) async {
        tell("Zoe", asOf: 5)
        #expect(await name() == "Zoe")
        tell("Ann", asOf: 8)
        switch change {
        case "profile": #expect(await gateway.send(.patch, "/auth/me", #"{"displayName":"Ann"}"#, as: caller).status == .ok)
        case "confirm": #expect(await gateway.confirm(TestGateway.confirm).status == .ok)
        default:
            let subject = gateway.subject("user@example.com")
            let token = gateway.routing.token(kind: .reset, reference: subject.bytes, for: home).text
            let body = #"{"resetToken":"\#(token)","newPassword":"Correct-Horse-7"}"#
            #expect(await gateway.post("/auth/reset-password", body).status == .ok)
        }
        #expect(await name() == "Ann")
    }
}
