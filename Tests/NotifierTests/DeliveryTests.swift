import Crypto
import EventSchema
import NotifierDomain
import Testing

/// The rules of one delivery, as tables of given, when and then.
@Suite struct DeliveryTests {
    private let noon = Timestamp(milliseconds: 1_800_000_000_000)
    private let send = MessageID.random()
    private let subject = Subject(bytes: [UInt8](repeating: 9, count: 16))!
    private let one = Delivery.Route(["console"], schedule: RetrySchedule(first: .seconds(2), longest: .seconds(16), attempts: 4))
    private let two = Delivery.Route(
        ["first", "second"], schedule: RetrySchedule(first: .seconds(2), longest: .seconds(16), attempts: 5))

    private func issued(decoy: Bool = false) -> CodeIssued {
        // The digest and the boxes are only carried.
        CodeIssued(
            subject: subject, purpose: .emailVerification, channel: .email, digest: nil, salt: nil, expiresAt: noon + .minutes(5),
            recipient: nil, code: nil, locale: LanguageTag("de"), decoy: decoy)
    }

    private func attempt(_ number: Int = 1, by provider: String = "console") -> DeliveryAttempted {
        DeliveryAttempted(
            send: send, subject: subject, attempt: number, provider: provider, purpose: .emailVerification, channel: .email,
            requestedAt: noon, expiresAt: noon + .minutes(5), recipient: nil, code: nil, locale: LanguageTag("de"))
    }

    private func failed(
        _ reason: DeliveryFailed.Reason = .unavailable, of number: Int = 1, by provider: String = "console", retryAt: Timestamp?
    ) -> NotifierEvent {
        .deliveryFailed(DeliveryFailed(send: send, attempt: number, provider: provider, reason: reason, retryAt: retryAt))
    }

    private func conclude(
        _ outcome: Delivery.Outcome, _ route: Delivery.Route, of number: Int = 1, jitter: Double = 0, at now: Timestamp? = nil
    ) -> Delivery.Command {
        .conclude(attempt: number, outcome, route, jitter: jitter, now: now ?? noon)
    }

    private func decide(_ command: Delivery.Command, given state: Delivery.State) -> NotifierEvent? {
        do { return try Delivery.decide(command, given: state) } catch {
            Issue.record("refused: \(error)")
            return nil
        }
    }

    private func state(after events: [NotifierEvent]) -> Delivery.State {
        events.reduce(into: Delivery.initial) { Delivery.evolve(&$0, with: $1) }
    }

    // MARK: First attempt

    @Test func `a code that was issued is attempted with all that another attempt needs`() {
        let event = decide(.send(send, issued(), issuedAt: noon, one), given: .absent)
        #expect(event == .deliveryAttempted(attempt()))
        #expect(state(after: [.deliveryAttempted(attempt())]) == .attempting(attempt()))
    }

    @Test func `a decoy goes to nobody`() {
        #expect(decide(.send(send, issued(decoy: true), issuedAt: noon, one), given: .absent) == nil)
    }

    @Test func `a send that is known is not begun again`() {
        for state: Delivery.State in [
            .attempting(attempt()), .waiting(attempt(), retryAt: noon), .failed(attempt()), .unknown(attempt()),
        ] {
            #expect(decide(.send(send, issued(), issuedAt: noon, one), given: state) == nil)
        }
    }

    @Test func `without a provider the attempt fails for good, and an operator finds it`() {
        let nobody = Delivery.Route([])
        #expect(decide(.send(send, issued(), issuedAt: noon, nobody), given: .absent) == .deliveryAttempted(attempt(by: "none")))
        let event = decide(conclude(.failed(.notConfigured), nobody), given: .attempting(attempt(by: "none")))
        #expect(event == failed(.notConfigured, by: "none", retryAt: nil))
    }

    // MARK: Outcomes

    @Test func `what the provider took is over`() {
        let delivered = Delivered(send: send, attempt: 1, provider: "console", providerID: "m-1")
        #expect(decide(conclude(.delivered(providerID: "m-1"), one), given: .attempting(attempt())) == .delivered(delivered))
        #expect(state(after: [.deliveryAttempted(attempt()), .delivered(delivered)]) == .absent)
    }

    @Test func `what is over has no further outcome`() {
        for outcome: Delivery.Outcome in [.delivered(providerID: nil), .failed(.timeout), .unknown, .expired] {
            #expect(decide(conclude(outcome, one), given: .absent) == nil)
        }
    }

    @Test func `an outcome of another attempt says nothing`() {
        #expect(decide(conclude(.delivered(providerID: nil), one, of: 1), given: .attempting(attempt(2))) == nil)
    }

    @Test func `of several outcomes of one attempt the first counts`() {
        for state: Delivery.State in [.waiting(attempt(), retryAt: noon + .seconds(1)), .failed(attempt()), .unknown(attempt())] {
            for outcome: Delivery.Outcome in [.failed(.timeout), .unknown, .expired] {
                #expect(decide(conclude(outcome, one), given: state) == nil)
            }
        }
    }

    @Test func `a delivery is believed whenever it is told`() {
        let delivered = NotifierEvent.delivered(Delivered(send: send, attempt: 1, provider: "console"))
        for state: Delivery.State in [.waiting(attempt(), retryAt: noon + .seconds(1)), .failed(attempt()), .unknown(attempt())] {
            #expect(decide(conclude(.delivered(providerID: nil), one), given: state) == delivered)
        }
    }

    @Test func `what may have been sent is not sent again`() {
        let unknown = NotifierEvent.deliveryUnknown(DeliveryUnknown(send: send, attempt: 1, provider: "console"))
        #expect(decide(conclude(.unknown, one), given: .attempting(attempt())) == unknown)
        #expect(state(after: [.deliveryAttempted(attempt()), unknown]) == .unknown(attempt()))
        #expect(decide(.retry(one, now: noon + .minutes(1)), given: .unknown(attempt())) == nil)
    }

    @Test func `what expired is over`() {
        let expired = NotifierEvent.deliveryExpired(DeliveryExpired(send: send))
        #expect(decide(conclude(.expired, one), given: .attempting(attempt())) == expired)
        #expect(state(after: [.deliveryAttempted(attempt()), expired]) == .absent)
    }

    // MARK: Retries

    @Test(arguments: [(1, 2_000), (2, 4_000), (3, 8_000)] as [(Int, Int64)])
    func `waits double, half of them random`(number: Int, full: Int64) {
        for (jitter, wait) in [(0, full / 2), (0.5, full * 3 / 4), (0.999, full - 1)] as [(Double, Int64)] {
            guard
                case .deliveryFailed(let event)? = decide(
                    conclude(.failed(.unavailable), one, of: number, jitter: jitter), given: .attempting(attempt(number)))
            else {
                Issue.record("no failure")
                continue
            }
            let waited = ((event.retryAt ?? noon) - noon).milliseconds
            #expect(abs(waited - wait) <= full / 1_000, "\(waited) instead of \(wait)")
        }
    }

    @Test func `the wait has an upper bound`() {
        let schedule = RetrySchedule(first: .seconds(1), longest: .seconds(30), attempts: 100)
        #expect(schedule.wait(afterRound: 90, jitter: 0.999_999) <= .seconds(30))
        #expect(schedule.wait(afterRound: 90, jitter: 0) == .seconds(15))
    }

    @Test func `a provider that asks for patience gets it`() {
        let event = decide(conclude(.failed(.rateLimited, retryAfter: .seconds(40)), one), given: .attempting(attempt()))
        #expect(event == failed(.rateLimited, retryAt: noon + .seconds(40)))
    }

    @Test func `the last attempt of the schedule fails for good`() {
        #expect(
            decide(conclude(.failed(.unavailable), one, of: 4), given: .attempting(attempt(4))) == failed(of: 4, retryAt: nil))
    }

    @Test func `no retry is planned for after the code's lifetime`() {
        let late = noon + .minutes(5) - .seconds(1)
        #expect(
            decide(conclude(.failed(.unavailable), one, jitter: 0, at: late), given: .attempting(attempt()))
                == failed(retryAt: nil))
        #expect(
            decide(conclude(.failed(.unavailable), one, jitter: 0, at: late - .milliseconds(1)), given: .attempting(attempt()))
                == failed(retryAt: late + .milliseconds(999)))
    }

    @Test(arguments: [DeliveryFailed.Reason.recipientRefused, .messageRefused])
    func `what nobody will take fails for good`(reason: DeliveryFailed.Reason) {
        #expect(
            decide(conclude(.failed(reason), two), given: .attempting(attempt(by: "first")))
                == failed(reason, by: "first", retryAt: nil))
    }

    @Test func `a retry waits for its time`() {
        let waiting = Delivery.State.waiting(attempt(), retryAt: noon + .seconds(2))
        #expect(decide(.retry(one, now: noon + .seconds(2) - .milliseconds(1)), given: waiting) == nil)
        #expect(decide(.retry(one, now: noon + .seconds(2)), given: waiting) == .deliveryAttempted(attempt(2)))
    }

    @Test func `a retry that comes after the code's lifetime sends nothing`() {
        let waiting = Delivery.State.waiting(attempt(), retryAt: noon + .seconds(2))
        #expect(decide(.retry(one, now: noon + .minutes(5)), given: waiting) == .deliveryExpired(DeliveryExpired(send: send)))
    }

    @Test func `only what waits is retried`() {
        for state: Delivery.State in [.absent, .attempting(attempt()), .failed(attempt())] {
            #expect(decide(.retry(one, now: noon + .seconds(9)), given: state) == nil)
        }
    }

    // MARK: Fail-over

    @Test(arguments: [DeliveryFailed.Reason.unavailable, .unreachable, .circuitOpen, .quotaExceeded, .unauthorized])
    func `the second provider is tried at once`(reason: DeliveryFailed.Reason) {
        let event = decide(conclude(.failed(reason), two), given: .attempting(attempt(by: "first")))
        #expect(event == failed(reason, by: "first", retryAt: noon))
        #expect(
            decide(.retry(two, now: noon), given: .waiting(attempt(by: "first"), retryAt: noon))
                == .deliveryAttempted(attempt(2, by: "second")))
    }

    @Test func `when everybody failed, the round is repeated after a wait`() {
        let event = decide(conclude(.failed(.unavailable), two, of: 2), given: .attempting(attempt(2, by: "second")))
        #expect(event == failed(of: 2, by: "second", retryAt: noon + .seconds(1)))
        let third = decide(conclude(.failed(.unavailable), two, of: 4), given: .attempting(attempt(4, by: "second")))
        #expect(third == failed(of: 4, by: "second", retryAt: noon + .seconds(2)))
        #expect(
            decide(.retry(two, now: noon), given: .waiting(attempt(2, by: "second"), retryAt: noon))
                == .deliveryAttempted(attempt(3, by: "first")))
    }

    @Test func `a lone provider that will not take it today is not asked again`() {
        #expect(
            decide(conclude(.failed(.unauthorized), one), given: .attempting(attempt())) == failed(.unauthorized, retryAt: nil))
    }

    @Test func `a provider that is configured no more is followed by the first`() {
        #expect(
            decide(.retry(two, now: noon), given: .waiting(attempt(by: "gone"), retryAt: noon))
                == .deliveryAttempted(attempt(2, by: "first")))
    }

    // MARK: Operators

    @Test func `an operator's retry is another attempt`() {
        for state: Delivery.State in [.failed(attempt(4)), .unknown(attempt(4))] {
            #expect(decide(.retryFailed(one, now: noon), given: state) == .deliveryAttempted(attempt(5)))
        }
    }

    @Test func `an operator is told why nothing is retried`() {
        let cases: [(Delivery.State, Timestamp, Delivery.Refusal)] = [
            (.absent, noon, .notFound), (.attempting(attempt()), noon, .notFailed),
            (.waiting(attempt(), retryAt: noon), noon, .notFailed), (.failed(attempt()), noon + .minutes(5), .expired),
        ]
        for (state, now, refusal) in cases {
            #expect(throws: refusal) { try Delivery.decide(.retryFailed(one, now: now), given: state) }
        }
    }

    // MARK: Folding

    @Test func `events about a send that is not open leave it so`() {
        #expect(state(after: [failed(retryAt: noon)]) == .absent)
        #expect(state(after: [.deliveryUnknown(DeliveryUnknown(send: send, attempt: 1, provider: "console"))]) == .absent)
    }

    @Test func `a failure is folded into a wait or an end`() {
        #expect(state(after: [.deliveryAttempted(attempt()), failed(retryAt: noon)]) == .waiting(attempt(), retryAt: noon))
        #expect(state(after: [.deliveryAttempted(attempt()), failed(retryAt: nil)]) == .failed(attempt()))
        #expect(
            state(after: [.deliveryAttempted(attempt()), failed(retryAt: noon), .deliveryAttempted(attempt(2))])
                == .attempting(attempt(2)))
    }
}
