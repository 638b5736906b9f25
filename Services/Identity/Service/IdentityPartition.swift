public import EventLog
public import EventSchema
public import IdentityDomain

/// Identity's rules as the loop needs them: one aggregate for each identifier.
public struct IdentityPartition: PartitionDomain {
    public enum Input: Sendable, Equatable {
        case confirmed(Contact.Confirmation)
    }

    public static let settings = LoopSettings(
        service: .identity, storage: .projection, inboxes: [.identityCommands, .verificationEvents], events: .identityEvents)

    private static let codec = SchemaCodec.current

    public init() {}

    // MARK: Reading

    public func read(_ message: InboxMessage) -> Reading<Input> {
        switch message.partition.topic {
        case .verificationEvents:
            // An event that cannot be read may be one that must be: the partition stands still, whatever is wrong with it.
            guard let event = try? Self.codec.decode(VerificationEvent.self, type: message.type, data: message.data) else {
                return .unknownType
            }
            return read(event, message)
        default:
            return .unknownType
        }
    }

    private func read(_ event: VerificationEvent, _ message: InboxMessage) -> Reading<Input> {
        switch event {
        case .codeConfirmed(let confirmed):
            switch confirmed.purpose {
            case .emailVerification, .phoneVerification:
                return .input(
                    .confirmed(
                        Contact.Confirmation(
                            id: message.id, subject: confirmed.subject, channel: confirmed.channel, confirmedAt: message.time)))
            case .passwordReset:
                // Proves nothing until the token that it earns is used.
                return .ignored
            }
        case .codeIssued, .codeMissed, .codeExhausted, .resetTokenIssued, .resetTokenConsumed:
            return .ignored
        }
    }

    /// Verification leaves the answer to a right code to Identity, which stamps first what the code proves.
    public func owesAnswer(to message: InboxMessage) -> Bool {
        message.isCommand || [CodeConfirmed.type.rawValue, LogRecordType.repeated].contains(message.type)
    }

    // MARK: Deciding

    public func key(of input: Input) -> Subject {
        switch input {
        case .confirmed(let confirmation): confirmation.subject
        }
    }

    public func key(of event: IdentityEvent) -> Subject {
        guard case .contactVerified(let verified) = event else { preconditionFailure("nothing else is decided here") }
        return verified.subject
    }

    public var initial: Contact.State { Contact.initial }

    public func decide(_ input: Input, at now: Timestamp, given contact: Contact.State) -> Decision<IdentityEvent> {
        switch input {
        case .confirmed(let confirmation):
            Contact.decide(.confirm(confirmation, now: now), given: contact).map { .event($0) } ?? .nothing
        }
    }

    public func evolve(_ contact: inout Contact.State, with event: IdentityEvent, at now: Timestamp) {
        Contact.evolve(&contact, with: event)
    }

    /// What is no longer of use is kept in rows, not in memory.
    public func isSpent(_ contact: Contact.State, at now: Timestamp) -> Bool { contact == Contact.initial }

    // MARK: Events and answers

    public func encode(_ event: IdentityEvent) -> EventBody {
        let encoded = Self.codec.encode(event)
        return EventBody(type: encoded.type, subject: key(of: event).base64url, data: encoded.data)
    }

    public func decode(_ body: EventBody) throws(UnreadableBody) -> IdentityEvent {
        do throws(SchemaError) {
            let event = try Self.codec.decode(IdentityEvent.self, type: body.type, data: body.data)
            guard case .contactVerified = event else { throw SchemaError.unknownType(body.type) }
            return event
        } catch {
            throw UnreadableBody(type: body.type, reason: error.description)
        }
    }

    public func answer(to event: IdentityEvent) -> Answer? {
        Answer(data: Self.codec.encode(Reply(outcome: .ok)).data)
    }

    /// Nothing that reaches Identity is refused yet: a confirmation cannot be wrong.
    public func answer(forRefusal code: String) -> Answer? { nil }
}
