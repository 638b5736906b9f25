import EventSchema
import IdentityDomain
import Testing

@Suite struct SigningInTests {
    private var house = House()

    @Test mutating func `the right password starts a session`() throws {
        let user = try house.registered().user.user
        let started = try house.loggedIn()
        #expect(started.user.user == user)
        #expect(started.session.isNewDevice)
        #expect(house.state.sessions.count == 2)
    }

    @Test mutating func `a wrong password, an unknown account and a disabled one fail alike`() throws {
        let user = try house.registered().user.user
        let wrong = try house.failed()
        let unknown = try house.failed(House.bob)
        try house.event(.disable(DisableUser(user: user)))
        house.pass(.minutes(15))
        guard case .loginFailed(let disabled) = try house.event(house.logIn(.right)) else { return }
        for failed in [wrong, unknown, disabled] {
            #expect(failed.ofIdentifier == FailedLogins(failures: 1))
            #expect(failed.ofAddress == FailedLogins(failures: 1))
            #expect(failed.retryAfter == nil)
        }
    }

    @Test mutating func `a verdict on what is not so any more is asked for again`() throws {
        let before = house.account()
        try house.registered()
        #expect(house.refusal(house.logIn(.wrong, account: .some(before))) == .stale)
        let account = try #require(house.account())
        let reset = house.finishReset(account)
        try house.event(reset)
        #expect(house.refusal(house.logIn(.right, account: account)) == .stale)
        #expect(house.refusal(house.logIn(.unchecked)) == .stale)
    }

    // MARK: Budgets

    @Test(arguments: [House.alice, House.bob])
    mutating func `five failures from one address block it, ten block everybody, known or not`(subject: Subject) throws {
        try house.registered()
        for count in 1...5 {
            #expect(house.refusal(house.logIn(.wrong, subject)) == nil)
            #expect(try house.failed(subject).ofAddress?.failures == Int64(count))
        }
        #expect(house.refusal(house.logIn(.right, subject)) == .blocked(seconds: 1))
        for _ in 6...10 { try house.failed(subject, from: House.cafe) }
        #expect(
            house.refusal(house.logIn(.right, subject, from: AddressTag(bytes: [9, 9, 9, 9, 9, 9, 9, 9])!))
                == .blocked(seconds: 1))
        #expect(house.refusal(house.logIn(.unchecked, subject)) == .blocked(seconds: 1))
    }

    @Test mutating func `each failure after a block doubles the next, up to a quarter of an hour`() throws {
        var blocks: [Int64] = []
        for _ in 1...20 {
            let failed = try house.failed()
            if let until = failed.ofAddress?.blockedUntil {
                blocks.append((until - house.now).milliseconds / 1_000)
                house.now = until
            }
        }
        #expect(blocks == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900, 900, 900, 900])
    }

    @Test mutating func `the rest of a block is told in whole seconds, rounded up`() throws {
        for _ in 1...5 { try house.failed() }
        house.pass(.seconds(1))
        try house.failed()
        #expect(house.refusal(house.logIn()) == .blocked(seconds: 2))
        house.pass(.milliseconds(1))
        #expect(house.refusal(house.logIn()) == .blocked(seconds: 2))
        house.pass(.milliseconds(999))
        #expect(house.refusal(house.logIn()) == .blocked(seconds: 1))
        house.pass(.seconds(1))
        #expect(house.refusal(house.logIn()) == nil)
    }

    @Test mutating func `fifteen quiet minutes after the last failure and its block forget all`() throws {
        for _ in 1...5 { try house.failed() }
        house.pass(.seconds(1) + .minutes(15) - .milliseconds(1))
        #expect(try house.failed().ofAddress?.failures == 6)
        house.pass(.seconds(2) + .minutes(15))
        #expect(try house.failed().ofAddress?.failures == 1)
    }

    @Test mutating func `a block from the future blocks nobody`() throws {
        for _ in 1...5 { try house.failed() }
        house.pass(.hours(-1))
        #expect(house.refusal(house.logIn()) == nil)
    }

    @Test mutating func `a known device is let in while everybody is blocked, and its wrong password is told the same`() throws {
        let device = try house.registered().session.device
        for _ in 1...5 { try house.failed() }
        #expect(house.refusal(house.logIn()) == .blocked(seconds: 1))
        let failed = try house.failed(device: device)
        #expect(failed.retryAfter == 1)
        #expect(failed.ofDevice == FailedLogins(failures: 1))
        #expect(failed.ofIdentifier == nil && failed.ofAddress == nil)
        let started = try house.loggedIn(device: device)
        #expect(!started.session.isNewDevice)
        #expect(started.session.device == device)
        #expect(house.state.devices[device]?.failures == LoginBudget())
    }

    @Test mutating func `a device has a budget too`() throws {
        let device = try house.registered().session.device
        for _ in 1...10 { #expect(try house.failed(device: device).retryAfter == nil) }
        #expect(house.refusal(house.logIn(device: device)) == .blocked(seconds: 1))
        #expect(house.refusal(house.logIn()) == nil)
    }

    @Test mutating func `a device of somebody else, or too old, is none`() throws {
        let device = try house.registered().session.device
        let foreign = try house.registered(House.bob).session.device
        #expect(try house.failed(device: foreign).ofDevice == nil)
        #expect(try house.loggedIn(device: foreign).session.isNewDevice)
        house.pass(.days(365))
        #expect(try house.loggedIn(device: device).session.isNewDevice)
    }

    @Test mutating func `a reset clears the budgets`() throws {
        let device = try house.registered().session.device
        for _ in 1...10 { try house.failed(from: House.office, device: device) }
        for _ in 1...5 { try house.failed() }
        let account = try #require(house.account())
        try house.event(house.finishReset(account))
        #expect(house.refusal(house.logIn()) == nil)
        #expect(house.refusal(house.logIn(device: device)) == nil)
    }

    // MARK: Limits

    @Test mutating func `the hundred-and-first session ends the oldest, the twenty-first device drops the oldest`() throws {
        let first = try house.registered()
        for count in 2...100 {
            house.pass(.seconds(1))
            let started = try house.loggedIn()
            #expect(started.ended == [])
            #expect(started.droppedDevices.count == (count > 20 ? 1 : 0))
        }
        house.pass(.seconds(1))
        let last = try house.loggedIn()
        #expect(last.ended == [first.session.session])
        #expect(house.state.sessions.count == 100)
        #expect(house.state.devices.count == 20)
    }
}
