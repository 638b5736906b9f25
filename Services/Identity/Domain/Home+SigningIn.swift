internal import EventSchema

/// Logins and their budgets.
extension Home.State {
    /// A device of the account has a budget of its own, and is not held up by those that strangers have used up. All answers
    /// are the same for identifiers without an account.
    func logIn(_ request: LogIn, _ signIn: Home.SignIn, at now: Timestamp) throws(Home.Refusal) -> IdentityEvent {
        let account = account(of: request.subject)
        let contact = contacts[request.subject] ?? Home.Contact()
        guard isCurrent(request.account, account) else { throw .stale }
        let device = request.device.flatMap { digest in
            devices[digest].flatMap { $0.user == account?.id && $0.isKnown(at: now) ? (digest: digest, state: $0) : nil }
        }
        let fromAddress = contact.failuresByAddress[request.address] ?? LoginBudget()
        let everybody = [contact.failures, fromAddress].compactMap { $0.block(at: now) }.max()

        if let block = device == nil ? everybody : device?.state.failures.block(at: now) {
            throw .blocked(seconds: Self.seconds(block))
        }
        switch request.verdict {
        // The block that kept the worker from checking is over.
        case .unchecked: throw .stale
        case .right:
            if let account, !account.user.isDisabled {
                guard request.profileVersion == account.user.profileVersion else { throw .stale }
                return try start(request, account, device?.digest, signIn, at: now)
            }
        case .wrong: break
        }
        return .loginFailed(
            LoginFailed(
                subject: request.subject, user: account?.id, address: request.address, device: device?.digest,
                ofIdentifier: device == nil ? contact.failures.failing(at: now, limit: Home.identifierFailures) : nil,
                ofAddress: device == nil ? fromAddress.failing(at: now, limit: Home.addressFailures) : nil,
                ofDevice: device?.state.failures.failing(at: now, limit: Home.deviceFailures),
                retryAfter: device == nil ? nil : everybody.map { Int64(Self.seconds($0)) }))
    }

    /// Whether the password was checked against what stands here now. A disabled account may be checked like none.
    private func isCurrent(_ checked: AccountReference?, _ account: (id: UserID, user: Home.User)?) -> Bool {
        guard let account else { return checked == nil }
        if account.user.isDisabled { return checked == nil || checked?.user == account.id }
        return checked == AccountReference(user: account.id, credentialVersion: account.user.credentialVersion)
    }

    private func start(
        _ request: LogIn, _ account: (id: UserID, user: Home.User), _ known: Digest?, _ signIn: Home.SignIn, at now: Timestamp
    ) throws(Home.Refusal) -> IdentityEvent {
        guard let summary = summary(of: account.id) else { throw .stale }
        let live = sessions(of: account.id)
        let devices = devices(of: account.id)
        var started = signIn.started(client: request.client, at: now)
        if let known { (started.device, started.isNewDevice) = (known, false) }
        return .sessionStarted(
            SessionStarted(
                subject: request.subject, user: summary, session: started, rehash: request.rehash,
                ended: Array(live.dropLast(Home.liveSessions - 1)),
                droppedDevices: known == nil ? Array(devices.dropLast(Home.devices - 1)) : [], person: request.person))
    }

    /// Rounded up.
    private static func seconds(_ block: Interval) -> Int { Int((block.milliseconds + 999) / 1_000) }
}
