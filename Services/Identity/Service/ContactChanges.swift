internal import EventLog
internal import EventSchema
internal import IdentityDomain

/// What a batch of events changes in the tables, each row once: of several stamps the first stands, of several flags the last.
struct ContactChanges: Sendable {
    struct Stamp: Equatable, Sendable {
        var subject: Subject
        var user: UserID
        var verifiedAt: Timestamp
    }

    struct SessionStamp: Equatable, Sendable {
        var session: OnboardingSessionID
        var verifiedAt: Timestamp
    }

    struct Flag: Equatable, Sendable {
        var subject: Subject
        var partition: Int
        var channel: Channel
        var flag: Contact.Flag
    }

    private(set) var stamps: [Stamp] = []
    private(set) var sessionStamps: [SessionStamp] = []
    private(set) var flags: [Flag] = []
    /// The time of each partition's last event.
    private(set) var lastTimes: [(partition: Int, time: Timestamp)] = []

    var isEmpty: Bool { lastTimes.isEmpty }

    init(_ events: [ConfirmedEvent<IdentityEvent>]) {
        var stamped: Set<StampKey> = []
        var sessions: Set<OnboardingSessionID> = []
        var flagged: [Subject: Int] = [:]
        var times: [Int: Int] = [:]
        for confirmed in events {
            let partition = confirmed.envelope.partition.partition
            guard let event = confirmed.event else { continue }
            if let index = times[partition] {
                lastTimes[index].time = confirmed.envelope.time
            } else {
                times[partition] = lastTimes.count
                lastTimes.append((partition, confirmed.envelope.time))
            }
            if case .contactVerified(let verified) = event {
                if let user = verified.user, stamped.insert(StampKey(subject: verified.subject, user: user)).inserted {
                    stamps.append(Stamp(subject: verified.subject, user: user, verifiedAt: verified.verifiedAt))
                }
                for session in verified.sessions where sessions.insert(session).inserted {
                    sessionStamps.append(SessionStamp(session: session, verifiedAt: verified.verifiedAt))
                }
                if let until = verified.flagUntil {
                    let flag = Flag(
                        subject: verified.subject, partition: partition, channel: verified.channel,
                        flag: Contact.Flag(confirmation: verified.confirmation, verifiedAt: verified.verifiedAt, until: until))
                    if let index = flagged[verified.subject] {
                        flags[index] = flag
                    } else {
                        flagged[verified.subject] = flags.count
                        flags.append(flag)
                    }
                }
            }
        }
    }

    private struct StampKey: Hashable {
        var subject: Subject
        var user: UserID
    }
}
