import EventSchema
import IdentityDomain
import Testing

/// Proofs: stamps and the flag.
@Suite struct ConfirmingTests {
    private var house = House()

    private var contact: Home.Contact? { house.state.contacts[House.alice] }

    @Test mutating func `a proof of an unknown address waits for ten minutes`() throws {
        try house.confirm()
        #expect(contact?.flag?.isWaiting == true)
        #expect(contact?.flag?.until == House.noon + .minutes(10))
        #expect(try house.onboarding().verifiedAt == House.noon)
    }

    @Test mutating func `after ten minutes it proves nothing`() throws {
        try house.confirm()
        house.pass(.minutes(10))
        let started = try house.onboarding()
        #expect(started.verifiedAt == nil)
        #expect(started.proof == .none)
    }

    @Test mutating func `the account is stamped, once and for all, and the flag is kept all the same`() throws {
        try house.registered()
        try house.confirm()
        #expect(contact?.verifiedAt == House.noon)
        #expect(contact?.flag != nil)
        house.pass(.hours(1))
        try house.confirm()
        #expect(contact?.verifiedAt == House.noon)
    }

    @Test mutating func `active sessions are stamped, expired ones are not`() throws {
        let old = try house.onboarding()
        house.pass(.hours(23))
        try house.confirm()
        // It is verified, so that the next one leaves it alone.
        let young = try house.onboarding()
        house.pass(.hours(2))
        try house.confirm()
        #expect(house.state.onboarding[old.session]?.verifiedAt == House.noon + .hours(23))
        #expect(house.state.onboarding[young.session]?.verifiedAt == House.noon + .hours(23))
        #expect(house.state.onboarding[old.session].map { $0.expiresAt <= house.now } == true)
    }

    @Test mutating func `stamp and flag count from the confirmation, however late it is decided`() throws {
        try house.registered()
        house.pass(.minutes(9))
        try house.confirm(at: House.noon)
        #expect(contact?.verifiedAt == House.noon)
        #expect(contact?.flag?.until == House.noon + .minutes(10))
    }

    @Test mutating func `a confirmation that is decided after its ten minutes leaves no flag, and takes none away`() throws {
        house.pass(.minutes(10))
        try house.confirm(at: House.noon)
        #expect(contact?.flag == nil)
        let waiting = try house.confirm()
        try house.confirm(at: House.noon)
        #expect(contact?.flag?.command == waiting)
    }

    @Test mutating func `a newer proof takes the place of the one that waits`() throws {
        try house.confirm()
        let newer = try house.confirm()
        #expect(contact?.flag?.command == newer)
    }

    @Test mutating func `a flag from the future is void`() throws {
        try house.confirm()
        house.pass(.hours(-1))
        #expect(try house.onboarding().proof == .none)
    }

    @Test mutating func `two identifiers of one home have nothing to do with each other`() throws {
        try house.registered(House.bob)
        try house.confirm()
        #expect(house.state.contacts[House.bob]?.verifiedAt == nil)
        #expect(try house.onboarding().proof == .flag)
        #expect(house.refusal(house.startOnboarding(House.bob)) == .accountExists)
    }
}
