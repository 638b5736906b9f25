public import EventSchema

extension Challenge {
    /// The numbers in the rules of Verification.
    public struct Rules: Hashable, Sendable {
        /// How long a code is good.
        public var lifetime: Interval
        /// The wrong code that is this many for one code takes it away.
        public var attempts: Int
        /// How many codes are sent within `sendWindow`.
        public var sends: Int
        public var sendWindow: Interval
        /// How many wrong codes are looked at within `wrongCodeWindow`, over all codes.
        public var wrongCodes: Int
        public var wrongCodeWindow: Interval
        /// How long a reset token is good.
        public var resetLifetime: Interval

        /// Every number must be at least 1.
        public init(
            lifetime: Interval = .minutes(5), attempts: Int = 3, sends: Int = 5, sendWindow: Interval = .minutes(15),
            wrongCodes: Int = 15, wrongCodeWindow: Interval = .hours(1), resetLifetime: Interval = .minutes(10)
        ) {
            precondition(attempts > 0 && sends > 0 && wrongCodes > 0, "a budget must be at least 1")
            precondition(
                lifetime > .zero && sendWindow > .zero && wrongCodeWindow > .zero && resetLifetime > .zero,
                "a span of time must not be empty")
            self.lifetime = lifetime
            self.attempts = attempts
            self.sends = sends
            self.sendWindow = sendWindow
            self.wrongCodes = wrongCodes
            self.wrongCodeWindow = wrongCodeWindow
            self.resetLifetime = resetLifetime
        }

        /// Events that are older than this have no influence on decisions.
        public var longestWindow: Interval { max(lifetime, sendWindow, wrongCodeWindow, resetLifetime) }
    }
}
