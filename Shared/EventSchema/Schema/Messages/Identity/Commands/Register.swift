public import Crypto
public import JSON

/// Asks for a user at once, and to sign them in.
public struct Register: Message {
    public static let type = MessageType.register

    public var subject: Subject
    public var channel: Channel
    public var data: PersonalData
    /// The command that confirmed the code of the same request; `nil` where there was none.
    public var confirmation: MessageID?
    /// Client address and user agent, encrypted under the user's data key.
    public var client: Ciphertext?
    /// The person's data for the answer, sealed by the check worker to the waiting gateway process.
    public var person: Box?

    public init(
        subject: Subject, channel: Channel, data: PersonalData, confirmation: MessageID? = nil, client: Ciphertext? = nil,
        person: Box? = nil
    ) {
        self.subject = subject
        self.channel = channel
        self.data = data
        self.confirmation = confirmation
        self.client = client
        self.person = person
    }

    public init(fields: Fields) throws(SchemaError) {
        subject = try fields.value("subject") { Subject($0) }
        channel = try fields.choice("channel")
        data = try fields.object("data", PersonalData.init(fields:))
        confirmation = try fields.optional("confirmation") { MessageID($0) }
        client = try fields.optional("client") { Ciphertext($0) }
        person = try fields.optional("person") { Box(encoded: $0) }
    }

    public var json: JSON {
        [
            "subject": .string(subject.base64url),
            "channel": .string(channel.rawValue),
            "data": data.json,
            "confirmation": .text(confirmation?.text),
            "client": .text(client?.base64url),
            "person": .text(person?.encoded),
        ]
    }
}
