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
        let (verdict, isOutdated) = try self.check(password, of: account)
        let client = client(of: message)
        var command = LogIn(
            subject: check.subject, account: account?.reference, verdict: verdict, address: tag(client, for: check.subject),
            device: check.device, profileVersion: account?.profileVersion ?? 0)
        if verdict == .right, let account {
            command.client = client.map { account.key.seal($0.bytes, as: .client) }
            command.person = seal(account.person.json, for: message)
            if isOutdated { command.rehash = account.key.seal(try hash(password), as: .passwordHash) }
        }
        return .command(command, check.subject.routingKey)
    }

    func changePassword(_ check: CheckPasswordChange, _ records: AccountDirectory.Records) throws(Stop) -> Outcome {
        let current = try open(check.current, SealingContext.password(user: check.user))
        let new = try open(check.new, SealingContext.newPassword(user: check.user))
        guard let account = records.users[check.user] else { throw .unauthenticated }
        let verdict = try self.check(current, of: account).verdict
        let hash = verdict == .right ? account.key.seal(try hash(new), as: .passwordHash) : nil
        return .command(
            ChangePassword(account: account.reference, session: check.session, verdict: verdict, passwordHash: hash),
            routing.routingKey(of: check.user))
    }

    func erase(_ check: CheckErasure, _ records: AccountDirectory.Records) throws(Stop) -> Outcome {
        let password = try open(check.password, SealingContext.password(user: check.user))
        guard let account = records.users[check.user] else { throw .unauthenticated }
        return .command(
            EraseUser(
                account: account.reference, session: check.session, verdict: try self.check(password, of: account).verdict),
            routing.routingKey(of: check.user))
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
