import EventLogSimulated
import EventSchema
import SeededRandom

/// What one seed does: how much work there is, and what goes wrong.
struct Profile {
    /// How many processes there are.
    var processes = 3
    /// Two of them take themselves for the owner, from the beginning to the end.
    var hasTwoOwners = false
    /// How long faults last, and how long there are none after that, in microseconds.
    var turbulence: Int64 = 60_000_000
    var calm: Int64 = 12_000_000
    /// Between two commands, on average, in microseconds.
    var pace: Int64 = 400_000
    var network = NetworkFaults()
    /// How often something happens, in microseconds, on average; `nil`: never.
    var kills: Int64?
    var pauses: Int64?
    var moves: Int64?
    var leaderChanges: Int64?
    var clockJumps: Int64?
    var lostCommits: Int64?
    var storeOutages: Int64?
    /// New MAC keys; there are three.
    var rotations: Int64?
    /// How probable it is that a transaction of the store is committed and its caller does not hear of it, and that one takes
    /// as long as `longTransaction`, in microseconds.
    var lostTransactions = 0.0
    var longTransactions = 0.0
    var longTransaction: Int64 = 400_000
    /// The log loses the end of one of its topics in the middle of the run.
    var truncates = false
    /// How many events may be on their way.
    var window = 256
    var refusalsPerEvent = 64
    var passedPerEvent = 10_000
    /// How late members learn that a partition was given to somebody else, in microseconds.
    var zombieTime: Int64 = 3_000_000

    /// Everything follows from the seed.
    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed &* 0x2545_f491_4f6c_dd1d ^ 0x6c61_7463_686b_6579)
        processes = Int.random(in: 2...3, using: &random)
        hasTwoOwners = random.chance(0.2)
        pace = [60_000, 200_000, 400_000, 800_000].randomElement(using: &random) ?? pace
        turbulence = pace * Int64.random(in: 60...160, using: &random)
        window = [1, 2, 8, 256].randomElement(using: &random) ?? window
        refusalsPerEvent = [1, 4, 64].randomElement(using: &random) ?? refusalsPerEvent
        passedPerEvent = [15, 10_000].randomElement(using: &random) ?? passedPerEvent
        func often(_ probability: Double) -> Double {
            random.chance(probability) ? Double.random(in: 0.01...0.15, using: &random) : 0
        }
        func now(_ probability: Double) -> Int64? {
            random.chance(probability) ? Int64.random(in: 2_000_000...15_000_000, using: &random) : nil
        }
        network.delay = often(0.5)
        network.drop = often(0.4)
        network.loseAcknowledgement = often(0.4)
        network.lateAppend = often(0.4)
        network.duplicate = often(0.4)
        network.reorder = often(0.4)
        network.interrupt = often(0.3) / 5
        kills = now(0.4)
        pauses = now(0.4)
        moves = now(0.4)
        leaderChanges = now(0.3)
        clockJumps = now(0.15)
        lostCommits = now(0.3)
        storeOutages = now(0.3)
        truncates = random.chance(0.12)
        lostTransactions = often(0.4)
        longTransactions = often(0.4)
        rotations = now(0.3)
    }
}

extension Profile: CustomStringConvertible {
    var description: String {
        var parts = ["\(processes) processes", "a command each \(pace / 1_000) ms", "window \(window)"]
        if hasTwoOwners { parts.append("two owners") }
        let probabilities = [
            ("delay", network.delay), ("drop", network.drop), ("lost acknowledgement", network.loseAcknowledgement),
            ("late append", network.lateAppend), ("duplicate", network.duplicate), ("reorder", network.reorder),
            ("interrupt", network.interrupt), ("lost transaction", lostTransactions), ("long transaction", longTransactions),
        ]
        for (name, probability) in probabilities where probability > 0 { parts.append("\(name) \(Int(probability * 1_000))‰") }
        let intervals = [
            ("kill", kills), ("pause", pauses), ("move", moves), ("leader change", leaderChanges), ("clock jump", clockJumps),
            ("lost commits", lostCommits), ("store outage", storeOutages), ("rotation", rotations),
        ]
        for (name, interval) in intervals { if let interval { parts.append("\(name) each \(interval / 1_000_000) s") } }
        if truncates { parts.append("truncation") }
        return parts.joined(separator: ", ")
    }
}
