/// How often something may be done: at once after a quiet time, steadily under load.
struct Pace {
    let interval: Duration
    let burst: Int
    /// When it may be done next.
    private(set) var next = ContinuousClock.now
    private var credit: Int
    private var earned = ContinuousClock.now

    init(interval: Duration, burst: Int) {
        self.interval = interval
        self.burst = burst
        credit = burst
    }

    var isDue: Bool { ContinuousClock.now >= next }

    mutating func spend() {
        let now = ContinuousClock.now
        while credit < burst, earned + interval <= now {
            credit += 1
            earned += interval
        }
        if credit == burst { earned = now }
        credit -= 1
        next = credit > 0 ? now : earned + interval
        credit = max(credit, 0)
    }
}
