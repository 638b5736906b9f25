internal import Crypto
internal import EventLog
internal import EventSchema
internal import JSON

extension CheckWork {
    func signUp(
        _ check: CheckSignUp, _ message: InboxMessage, _ records: AccountDirectory.Records
    ) throws(Stop) -> Outcome {
        let identifier = try open(check.identifier, SealingContext.identifier(subject: check.subject))
        let password = try open(check.password, SealingContext.password(subject: check.subject))
        let profile = try check.profile.map { box throws(Stop) in try open(box, SealingContext.profile(in: message.id)) }
        // It was destroyed: the command has been decided long ago.
        guard let key = records.newKeys[DataKeyID(of: message.id)] else { throw .unreadable }
        let data = PersonalData(
            dataKey: key.id, identifier: key.seal(identifier, as: .identifier),
            passwordHash: key.seal(try hash(password), as: .passwordHash),
            profile: profile.map { key.seal($0, as: .profile) })
        switch check.kind {
        case .onboarding:
            return .command(
                StartOnboarding(
                    subject: check.subject, channel: check.channel, data: data, confirmation: check.confirmation,
                    proofRequired: check.proofRequired,
                    notice: check.proofRequired ? notice(identifier, check.subject, check.channel, check.locale) : nil),
                check.subject.routingKey)
        case .register:
            let text = String(decoding: identifier, as: UTF8.self)
            let person = Person(
                email: check.channel == .email ? text : nil, phoneNumber: check.channel == .sms ? text : nil,
                profile: key.object(data.profile))
            return .command(
                Register(
                    subject: check.subject, channel: check.channel, data: data, confirmation: check.confirmation,
                    client: client(of: message).map { key.seal($0.bytes, as: .client) }, person: seal(person.json, for: message)),
                check.subject.routingKey)
        }
    }

    func complete(
        _ check: CheckCompletion, _ message: InboxMessage, _ records: AccountDirectory.Records
    ) throws(Stop) -> Outcome {
        guard let session = records.onboarding[check.session] else { throw .unauthenticated }
        return .command(
            CompleteOnboarding(
                session: check.session, token: check.token, digest: check.digest, proofRequired: check.proofRequired,
                profileVersion: session.profileVersion,
                client: client(of: message).map { session.key.seal($0.bytes, as: .client) },
                person: seal(session.person.json, for: message)),
            routing.routingKey(of: check.session))
    }

    /// For the owner of an e-mail address; nothing is told by SMS.
    func notice(_ identifier: [UInt8], _ subject: Subject, _ channel: Channel, _ locale: LanguageTag?) -> Notice? {
        guard channel == .email, let notifier = notifier(),
            let recipient = try? sealer.seal(identifier, to: notifier, context: SealingContext.notice(subject: subject))
        else { return nil }
        return Notice(recipient: recipient, locale: locale)
    }
}
