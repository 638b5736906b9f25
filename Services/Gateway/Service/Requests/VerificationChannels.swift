import EventSchema
public import Identifiers
import JSON

/// Which contacts can be verified here.
public struct VerificationChannels: Sendable {
    /// Whether an SMS provider is configured.
    public var hasSMS: Bool
    /// The country whose phone numbers may be entered without a country code.
    public var region: PhoneNumber.Region?

    public init(hasSMS: Bool = false, region: PhoneNumber.Region? = nil) {
        self.hasSMS = hasSMS
        self.region = region
    }

    var channels: [Channel] { hasSMS ? [.email, .sms] : [.email] }
    var purposes: [Purpose] { Purpose.allCases.filter { channels.contains($0.channel) } }
}

extension FieldReader {
    /// An address or number in its canonical form.
    mutating func identifier(_ name: String, for channel: Channel, by channels: VerificationChannels) -> Identifier? {
        guard let entered = string(name) else { return nil }
        do {
            return try Identifier(entered, for: channel, region: channels.region)
        } catch {
            refuse(name, error.message)
            return nil
        }
    }

    /// Exactly one of `email` and `phoneNumber`.
    mutating func account(by channels: VerificationChannels) -> Identifier? {
        let given = [("email", Channel.email), ("phoneNumber", .sms)].filter { name, _ in !(value(name) ?? .null).isNull }
        guard let (name, channel) = given.first else {
            refuse("email", channels.hasSMS ? "Required, or else phoneNumber." : "Required.")
            return nil
        }
        guard given.count == 1 else {
            refuse("phoneNumber", "Must not stand beside email.")
            return nil
        }
        guard channels.channels.contains(channel) else {
            refuse(name, "Phone numbers are not supported.")
            return nil
        }
        return identifier(name, for: channel, by: channels)
    }

    /// What the identifier has to be when the channel is not given, or wrong: what the purpose asks for.
    func channel(ofPurpose name: String, by channels: VerificationChannels) -> Channel {
        let purpose = peek(name).flatMap { Purpose(rawValue: $0) }
        return purpose.flatMap { channels.purposes.contains($0) ? $0.channel : nil } ?? .email
    }
}
