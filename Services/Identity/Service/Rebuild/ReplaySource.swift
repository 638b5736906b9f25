internal import Crypto
internal import EventLog
internal import EventSchema
internal import IdentityDomain
internal import Sealing

/// Where replays read, and how.
struct ReplaySource: Sendable {
    let log: any EventLog
    let authenticator: RecordAuthenticator
    /// Reads events. It decides nothing, so it needs neither keys nor tokens.
    let domain: IdentityPartition

    init(_ access: OperatorAccess) {
        log = access.log
        authenticator = access.authenticator
        domain = IdentityPartition(
            routing: access.routing,
            minting: SignedTokens(keys: SigningKeys(), issuer: "", audience: "", accessLifetime: .zero), opener: BoxOpener(),
            sealer: BoxSealer(), ownKey: { preconditionFailure("a replay seals nothing") })
    }

    func scan(_ client: String) throws(LogError) -> ChainScan {
        try ChainScan(log, authenticator: authenticator, client: client)
    }

    /// The events that are skipped, as far as this process has read.
    var skipped: [SkippedEvent] { authenticator.skipped.filter { $0.partition.topic == .identityEvents } }

    /// Does something with all events but the skipped ones. Where it comes to light meanwhile that others are skipped, which may
    /// have been taken in by then, it is done again.
    func withoutSkipped<Value>(_ body: (_ skipped: [SkippedEvent]) throws -> Value) throws -> Value {
        try authenticator.readAnnouncements(of: log)
        while true {
            let skipped = skipped
            do { return try body(skipped) } catch is LateSkip {}
        }
    }

    /// Fails where more events are skipped than these: see `withoutSkipped`.
    func check(_ skipped: [SkippedEvent]) throws { if self.skipped != skipped { throw LateSkip() } }

    /// What an event says to the domain. Fails with `.unreadable` for one that cannot be read, unless it is skipped, which an
    /// event behind `position` says.
    func event(
        of envelope: EventEnvelope, after position: ChainPosition?, _ skipped: inout Int
    ) throws(LogError) -> IdentityEvent? {
        if envelope.skipped != nil { skipped += 1 }
        if envelope.saysNothing { return nil }
        let unreadable: UnreadableBody
        do throws(UnreadableBody) { return try domain.decode(envelope.body) } catch { unreadable = error }
        if try SkippedEvents.contains(
            envelope.offset, of: envelope.partition, behind: position, in: log, authenticator: authenticator)
        {
            skipped += 1
            return nil
        }
        throw LogError(
            .unreadable,
            """
            \(envelope.partition) has an event at offset \(envelope.offset) that this version cannot read: \(unreadable.type), \
            \(unreadable.reason)
            """)
    }
}

/// It came to light that an event is skipped.
private struct LateSkip: Error {}
