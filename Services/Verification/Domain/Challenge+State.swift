public import EventSchema

extension Challenge {
    public struct State: Hashable, Sendable {
        /// The same for the whole service; in the state because decisions depend on nothing else.
        public let rules: Rules
        private var everybody = Scope()
        private var devices: [Digest: Scope] = [:]
        /// What the last right code has earned, where it was one for a reset.
        var resetToken: ResetToken?

        public init(rules: Rules = Rules()) { self.rules = rules }

        /// What belongs to a device, or (`nil`) to everybody.
        subscript(device: Digest?) -> Scope {
            get { device.map { devices[$0] ?? Scope() } ?? everybody }
            set {
                if let device {
                    devices[device] = newValue.isEmpty ? nil : newValue
                } else {
                    everybody = newValue
                }
            }
        }

        /// Whether nothing here has an influence on decisions at `now` or later. What comes from the future has, once that
        /// time is reached.
        public func isSpent(at now: Timestamp) -> Bool {
            everybody.isSpent(at: now, rules) && devices.values.allSatisfy { $0.isSpent(at: now, rules) }
                && (resetToken.map { $0.expiresAt <= now } ?? true)
        }

        func liveResetToken(at now: Timestamp) -> ResetToken? {
            resetToken.flatMap { $0.issuedAt <= now && now < $0.expiresAt ? $0 : nil }
        }

        /// Drops what has no influence at `now`, which is the time of an event. That includes all that comes from the future: it
        /// was written under a clock that was wrong, and the event shows that the clock is right again.
        public mutating func forget(at now: Timestamp) {
            everybody.forget(at: now, rules)
            for device in devices.keys { self[device].forget(at: now, rules) }
            resetToken = liveResetToken(at: now)
        }
    }

    struct ResetToken: Hashable, Sendable {
        var digest: Digest
        /// Whose password it resets, and of which version.
        var account: AccountReference
        var issuedAt: Timestamp
        var expiresAt: Timestamp
    }

    /// The code and the budgets of one device, or of everybody.
    struct Scope: Hashable, Sendable {
        var code: Code?
        /// When codes were sent.
        var sends: [Timestamp] = []
        /// When wrong codes were entered, whichever code was live.
        var wrongCodes: [Timestamp] = []

        var isEmpty: Bool { code == nil && sends.isEmpty && wrongCodes.isEmpty }

        func liveCode(at now: Timestamp) -> Code? { code.flatMap { $0.issuedAt <= now && now < $0.expiresAt ? $0 : nil } }

        func isSpent(at now: Timestamp, _ rules: Rules) -> Bool {
            (code.map { $0.expiresAt <= now } ?? true)
                && sends.allSatisfy { $0 + rules.sendWindow <= now }
                && wrongCodes.allSatisfy { $0 + rules.wrongCodeWindow <= now }
        }

        mutating func forget(at now: Timestamp, _ rules: Rules) {
            code = liveCode(at: now)
            sends.keep(within: rules.sendWindow, of: now)
            wrongCodes.keep(within: rules.wrongCodeWindow, of: now)
        }
    }

    struct Code: Hashable, Sendable {
        /// `nil`: a decoy.
        var digest: Digest?
        var salt: [UInt8]
        /// Whose password it was sent for; `nil` for other purposes, and for a decoy.
        var account: AccountReference?
        var issuedAt: Timestamp
        var expiresAt: Timestamp
        /// How many wrong codes were entered for this one.
        var attempts = 0

        /// Does the same work for a decoy.
        func matches(_ hmac: Digest) -> Bool {
            let entered = DrawnCode.digest(hmac, salt: salt)
            let matches = entered.matches(digest ?? hmac)
            return matches && digest != nil
        }
    }
}

extension [Timestamp] {
    /// How many of them lie in the window that ends at `now`. One that is a whole window old does not, nor does one from the
    /// future: a wrong clock must not lock anybody out.
    func count(within window: Interval, of now: Timestamp) -> Int { count { $0 <= now && now < $0 + window } }

    mutating func keep(within window: Interval, of now: Timestamp) { removeAll { $0 > now || $0 + window <= now } }
}
