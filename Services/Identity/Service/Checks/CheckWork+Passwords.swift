internal import Crypto
internal import EventLog
internal import EventSchema
internal import JSON

extension CheckWork {
    func logIn(
        _ check: CheckLogin, _ message: InboxMessage, _ records: AccountDirectory.Records
    ) throws(Stop) -> Outcome {
        let password = try open(check.password, SealingContext.password(subject: check.subject))
        // A disabled account is none.
        let account = records.account(of: check.subject).flatMap { $0.isDisabled ? nil : $0 }
        let client = client(of: message)
        let address = tag(client, for: check.subject)
        let isBlocked = records.blocks.hold(check, from: address, of: records.account(of: check.subject)?.user)
        let (verdict, isOutdated) = isBlocked ? (.unchecked, false) : try self.check(password, of: account)
        var command = LogIn(
            subject: check.subject, account: account?.reference, verdict: verdict, address: address,
            device: check.device, profileVersion: account?.profileVersion ?? 0)
        if verdict == .right, let account {
            command.client = client.map { account.key.seal($0.bytes, as: .client) }
            command.person = seal(account.person.json, for: message)
            if isOutdated { command.rehash = account.key.seal(try hash(password), as: .passwordHash) }
        }
        return .command(command, check.subject.routingKey)
    }

    /// Whether a password is hashed for it, which takes a thread for as long as it takes. For a login that is blocked none is.
    func isSlow(_ request: CheckRequest, with records: AccountDirectory.Records) -> Bool {
        guard case .check(.checkLogin(let check)) = request.task else { return request.isSlow }
        let address = tag(client(of: request.message), for: check.subject)
        return !records.blocks.hold(check, from: address, of: records.account(of: check.subject)?.user)
    }

    func changePassword(_ check: CheckPasswordChange, _ records: AccountDirectory.Records) throws(Stop) -> Outcome {
        let new = try open(check.new, SealingContext.newPassword(user: check.user))
        let (account, reference, verdict) = try self.check(own: check.current, of: check.user, records)
        var command = ChangePassword(account: reference, session: check.session, verdict: verdict)
        if verdict == .right, let account { command.passwordHash = account.key.seal(try hash(new), as: .passwordHash) }
        return .command(command, routing.routingKey(of: check.user))
    }

    func erase(_ check: CheckErasure, _ records: AccountDirectory.Records) throws(Stop) -> Outcome {
        let (_, reference, verdict) = try self.check(own: check.password, of: check.user, records)
        return .command(
            EraseUser(account: reference, session: check.session, verdict: verdict), routing.routingKey(of: check.user))
    }

    /// The verdict on the password of a user who is signed in, and what it was checked against.
    ///
    /// The command is sent for an account that is not there, too: it may have been erased by this very check, if that was taken
    /// before by an instance that died. Whoever decides knows.
    private func check(
        own password: Box, of user: UserID, _ records: AccountDirectory.Records
    ) throws(Stop) -> (account: AccountRecord?, reference: AccountReference, verdict: PasswordVerdict) {
        let password = try open(password, SealingContext.password(user: user))
        guard let account = records.users[user] else {
            return (nil, AccountReference(user: user, credentialVersion: 0), .unchecked)
        }
        return (account, account.reference, try check(password, of: account).verdict)
    }

    /// The token is consumed, so the command is sent whatever is found: the answer to the client waits for it.
    func finishReset(_ consumed: ResetTokenConsumed, _ records: AccountDirectory.Records) throws(Stop) -> Outcome {
        var command = FinishReset(subject: consumed.subject, account: consumed.account)
        if let password = opener.open(consumed.password, context: SealingContext.password(subject: consumed.subject)),
            let account = records.users[consumed.account.user], account.reference == consumed.account
        {
            command.passwordHash = account.key.seal(try hash(password), as: .passwordHash)
            if let own = account.identifiers.first(where: { $0.subject == consumed.subject }),
                let identifier = account.key.open(own.encrypted, as: .identifier)
            {
                command.notice = notice(
                    identifier, consumed.subject, own.channel,
                    account.person.profile["locale"]?.string.flatMap { LanguageTag($0) })
            }
        }
        return .command(command, consumed.subject.routingKey)
    }
}
