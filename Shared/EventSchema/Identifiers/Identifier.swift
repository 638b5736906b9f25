public import EventSchema

/// What an account is found by.
public enum Identifier: Hashable, Sendable, CustomStringConvertible {
    case email(EmailAddress)
    case phone(PhoneNumber)

    /// Reads what somebody entered for a channel: an address for `email`, a number for `sms`.
    public init(_ entered: String, for channel: Channel, region: PhoneNumber.Region? = nil) throws(IdentifierFault) {
        switch channel {
        case .email: self = .email(try EmailAddress(entered))
        case .sms: self = .phone(try PhoneNumber(entered, region: region))
        }
    }

    public var channel: Channel {
        switch self {
        case .email: .email
        case .phone: .sms
        }
    }

    /// The canonical form; personal data.
    public var text: String {
        switch self {
        case .email(let address): address.text
        case .phone(let number): number.text
        }
    }

    /// The pseudonym that stands for it in the log.
    public func subject(by routing: Routing) -> Subject {
        switch self {
        case .email(let address): address.subject(by: routing)
        case .phone(let number): number.subject(by: routing)
        }
    }

    /// For logs.
    public var masked: String {
        switch self {
        case .email(let address): address.masked
        case .phone(let number): number.masked
        }
    }

    /// Masked, so that none is printed by accident.
    public var description: String { masked }
}
