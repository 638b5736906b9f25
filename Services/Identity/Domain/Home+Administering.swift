internal import EventSchema

/// What operators do.
extension Home.State {
    func disable(_ request: DisableUser, at now: Timestamp) throws(Home.Refusal) -> IdentityEvent {
        guard let user = users[request.user] else { throw .notFound }
        guard !user.isDisabled else { throw .alreadySo }
        return .userDisabled(UserDisabled(user: request.user, ended: sessions(of: request.user)))
    }

    func enable(_ request: EnableUser) throws(Home.Refusal) -> IdentityEvent {
        guard let user = users[request.user] else { throw .notFound }
        guard user.isDisabled else { throw .alreadySo }
        return .userEnabled(UserEnabled(user: request.user))
    }

    func setGroups(_ request: SetGroups) throws(Home.Refusal) -> IdentityEvent {
        let groups = Set(request.groups).sorted()
        guard let user = users[request.user] else { throw .notFound }
        guard user.groups != groups else { throw .alreadySo }
        return .groupsChanged(GroupsChanged(user: request.user, groups: groups))
    }

    func importUser(_ request: ImportUser, _ user: UserID, at now: Timestamp) throws(Home.Refusal) -> IdentityEvent {
        guard account(of: request.subject) == nil else { throw .accountExists }
        let summary = UserSummary(
            user: user, createdAt: request.createdAt ?? now,
            emailVerifiedAt: request.channel == .email ? request.verifiedAt : nil,
            phoneVerifiedAt: request.channel == .sms ? request.verifiedAt : nil, groups: Set(request.groups).sorted())
        return .userImported(
            UserImported(
                subject: request.subject, channel: request.channel, user: summary, data: request.data, disabled: request.disabled)
        )
    }
}
