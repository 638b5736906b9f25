import EventSchema
import IdentityDomain
import Testing

@Suite struct AdministeringTests {
    private var house = House()

    @Test mutating func `a disabled user is shut out until enabled`() throws {
        let registered = try house.registered()
        let (user, session) = (registered.user.user, registered.session.session)
        guard case .userDisabled(let disabled) = try house.event(.disable(DisableUser(user: user))) else { return }
        #expect(disabled.ended == [session])
        #expect(house.refusal(.disable(DisableUser(user: user))) == .alreadySo)
        #expect(house.refusal(house.refresh(session, registered.session.refresh)) == .refreshTokenInvalid)
        try house.event(.enable(EnableUser(user: user)))
        #expect(house.refusal(.enable(EnableUser(user: user))) == .alreadySo)
        try house.loggedIn()
    }

    @Test mutating func `groups are a set, in order, and stand in what a sign-in says`() throws {
        let user = try house.registered().user.user
        try house.event(.setGroups(SetGroups(user: user, groups: ["testing", "admin", "testing"])))
        #expect(try house.loggedIn().user.groups == ["admin", "testing"])
        #expect(house.refusal(.setGroups(SetGroups(user: user, groups: ["admin", "testing"]))) == .alreadySo)
    }

    @Test mutating func `who is not there is not found`() {
        let nobody = house.user()
        #expect(house.refusal(.disable(DisableUser(user: nobody))) == .notFound)
        #expect(house.refusal(.enable(EnableUser(user: nobody))) == .notFound)
        #expect(house.refusal(.setGroups(SetGroups(user: nobody, groups: []))) == .notFound)
    }

    @Test mutating func `an imported user logs in, and is imported once`() throws {
        let request = ImportUser(
            subject: House.alice, channel: .email, data: House.personal, createdAt: House.noon - .days(500),
            verifiedAt: House.noon - .days(400), groups: ["b", "a"], disabled: false)
        guard case .userImported(let imported) = try house.event(.importUser(request, user: house.user())) else { return }
        #expect(imported.user.createdAt == House.noon - .days(500))
        #expect(imported.user.emailVerifiedAt == House.noon - .days(400))
        #expect(imported.user.groups == ["a", "b"])
        #expect(house.refusal(.importUser(request, user: house.user())) == .accountExists)
        try house.loggedIn()
    }
}
