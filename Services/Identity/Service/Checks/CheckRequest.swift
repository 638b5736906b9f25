internal import EventLog
internal import EventSchema

/// One piece of work: a check that a gateway asks for, or a reset token that was consumed.
struct CheckRequest: Sendable {
    enum Task: Sendable {
        case check(IdentityCheck)
        /// An event of Verification: nobody may drop it.
        case reset(ResetTokenConsumed)
    }

    var message: InboxMessage
    var task: Task
    /// When it was read.
    var received: ContinuousClock.Instant

    private static let codec = SchemaCodec.current

    /// A record of `identity.checks`. `nil` for what is not a check that this version knows: nobody can do anything about it, and
    /// whoever waits is told nothing.
    init?(check message: InboxMessage, received: ContinuousClock.Instant) {
        guard let check = try? Self.codec.decode(IdentityCheck.self, type: message.type, data: message.data) else { return nil }
        self.init(message: message, task: .check(check), received: received)
    }

    /// A valid event of Verification; `nil` for those that are none of a check worker's business.
    ///
    /// - Throws: `.unreadable` for a consumed token in a form that this version does not know.
    init?(event message: InboxMessage, received: ContinuousClock.Instant) throws(LogError) {
        var message = message
        // The token's command may come again for so long, and what it led to is then told again.
        message.remember = .hours(1)
        if message.type == LogRecordType.repeated {
            // The same work again leads to the same command again, whose outcome is known.
            let type = ResetTokenConsumed.type.rawValue
            let consumed = try? Self.codec.decode(ResetTokenConsumed.self, type: type, data: message.data)
            guard let consumed else { return nil }
            self.init(message: message, task: .reset(consumed), received: received)
            return
        }
        guard let name = TypeName(message.type), name.base == TypeName(ResetTokenConsumed.type.rawValue)?.base else { return nil }
        do throws(SchemaError) {
            let consumed = try Self.codec.decode(ResetTokenConsumed.self, type: message.type, data: message.data)
            self.init(message: message, task: .reset(consumed), received: received)
        } catch {
            throw LogError(.unreadable, "\(message.partition) offset \(message.offset): \(error)")
        }
    }

    private init(message: InboxMessage, task: Task, received: ContinuousClock.Instant) {
        self.message = message
        self.task = task
        self.received = received
    }

    /// For how long an answer is of use still; `nil`: for ever. Not more than zero when it is over.
    ///
    /// - Parameter now: the log's clock, where it is known. Without it the time since the record was read counts alone, which is
    ///   never more than what has passed.
    func remaining(_ now: Timestamp?) -> Interval? {
        guard case .check = task, let deadline = message.deadline else { return nil }
        let passed = Interval(ContinuousClock.now - received)
        let unless = Interval.milliseconds(deadline.milliseconds - message.time.milliseconds - passed.milliseconds)
        guard let now else { return unless }
        return min(unless, .milliseconds(deadline.milliseconds - now.milliseconds))
    }

    func isOver(_ now: Timestamp?) -> Bool { remaining(now).map { $0 <= .zero } ?? false }

    /// What counts of the log's clock: what was learnt since this was read. By what was known before it may seem late though the
    /// clock was set.
    func now(by time: LogTime) -> Timestamp? { time.now(askedWithin: .now - received) }

    /// Whether it is over by what was known before it was read.
    func mayBeOver(by time: LogTime) -> Bool {
        guard remaining(nil) != nil, now(by: time) == nil else { return false }
        return time.now.map { isOver($0) } ?? true
    }

    /// What has to be read for it.
    func note(in request: inout AccountDirectory.Request) {
        switch task {
        case .reset(let consumed): request.users.insert(consumed.account.user)
        case .check(let check):
            switch check {
            case .checkSignUp: request.newKeys.insert(DataKeyID(of: message.id))
            case .checkCompletion(let check): request.onboarding.insert(check.session)
            case .checkLogin(let check):
                request.subjects.insert(check.subject)
                request.logins.insert(check.subject)
                if let device = check.device { request.loginDevices.insert(device) }
            case .checkPasswordChange(let check): request.users.insert(check.user)
            case .checkErasure(let check): request.users.insert(check.user)
            case .checkProfile(let check):
                switch check.target {
                case .user(let id): request.users.insert(id)
                case .onboarding(let id): request.onboarding.insert(id)
                }
            case .readUser(let read): request.users.insert(read.user)
            case .readOnboarding(let read): request.onboarding.insert(read.session)
            case .readSessions(let read): request.sessionsOf.insert(read.user)
            }
        }
    }

    /// Whether it may have to hash a password.
    var isSlow: Bool {
        switch task {
        case .reset: true
        case .check(let check):
            switch check {
            case .checkSignUp, .checkLogin, .checkPasswordChange, .checkErasure: true
            case .checkCompletion, .checkProfile, .readUser, .readOnboarding, .readSessions: false
            }
        }
    }
}
