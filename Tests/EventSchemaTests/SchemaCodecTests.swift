import EventSchema
import JSON
import Testing

struct SchemaCodecTests {
    private let codec = SchemaCodec.current

    @Test func `a message of a set comes back as its case`() throws {
        for example in Examples.all {
            let encoded = codec.encode(example.message)
            switch Swift.type(of: example.message).type.topic {
            case .verificationCommands: try roundTrip(VerificationCommand.self, encoded)
            case .verificationEvents: try roundTrip(VerificationEvent.self, encoded)
            case .identityChecks: try roundTrip(IdentityCheck.self, encoded)
            case .identityCommands: try roundTrip(IdentityCommand.self, encoded)
            case .identityEvents: try roundTrip(IdentityEvent.self, encoded)
            case .notifierCommands: try roundTrip(NotifierCommand.self, encoded)
            case .notifierEvents: try roundTrip(NotifierEvent.self, encoded)
            case .replies: #expect(codec.encode(try codec.decode(Reply.self, type: encoded.type, data: encoded.data)) == encoded)
            case .keys:
                // No set: each type is read for itself.
                #expect(codec.encode(try codec.decode(type: encoded.type, data: encoded.data)) == encoded)
            }
        }
    }

    private func roundTrip<S: MessageSet>(_ set: S.Type, _ encoded: EncodedMessage) throws {
        #expect(codec.encode(try codec.decode(set, type: encoded.type, data: encoded.data)) == encoded)
    }

    @Test func `a set is all that belongs to its topic, and nothing else`() {
        func types(_ topic: Topic) -> Set<MessageType> { Set(MessageType.allCases.filter { $0.topic == topic }) }
        #expect(Set(VerificationCommand.types) == types(.verificationCommands))
        #expect(Set(VerificationEvent.types) == types(.verificationEvents))
        #expect(Set(IdentityCheck.types) == types(.identityChecks))
        #expect(Set(IdentityCommand.types) == types(.identityCommands))
        #expect(Set(IdentityEvent.types) == types(.identityEvents))
        #expect(Set(NotifierCommand.types) == types(.notifierCommands))
        #expect(Set(NotifierEvent.types) == types(.notifierEvents))
        for type in MessageType.allCases { #expect(type.message.type == type) }
    }

    @Test func `a message of another set, or another type, is misplaced`() throws {
        let encoded = codec.encode(DeliveryExpired(send: Examples.message))
        #expect(throws: SchemaError.misplaced(.deliveryExpired)) {
            try codec.decode(VerificationEvent.self, type: encoded.type, data: encoded.data)
        }
        #expect(throws: SchemaError.misplaced(.deliveryExpired)) {
            try codec.decode(RetryDelivery.self, type: encoded.type, data: encoded.data)
        }
    }

    @Test(arguments: ["", "nonsense", "[]", "null", "\"text\"", "{} {}", #"{"send":"a","send":"b"}"#, "{\"send\":\"\u{1}\"}"])
    func `what is no JSON object is refused`(data: String) {
        let type = MessageType.retryDelivery.name
        #expect(throws: SchemaError.notAnObject(type: type)) {
            try codec.decode(NotifierCommand.self, type: type, data: Array(data.utf8))
        }
    }

    @Test func `an unknown type is told before anything else`() {
        #expect(throws: SchemaError.unknownType("latchkey.notifier.retry-delivery.v2")) {
            try codec.decode(NotifierCommand.self, type: "latchkey.notifier.retry-delivery.v2", data: [0xff])
        }
    }

    @Test func `an error tells where, and nothing of what stands there`() throws {
        let data = Array(#"{"send":"user@example.com"}"#.utf8)
        do {
            _ = try codec.decode(NotifierCommand.self, type: MessageType.retryDelivery.name, data: data)
            Issue.record("it was read")
        } catch {
            #expect("\(error)" == "field 'send' of 'latchkey.notifier.retry-delivery.v1' is malformed")
        }
        #expect("\(SchemaError.unknownType("a\u{1b}[2Jé\n" + String(repeating: "x", count: 500)))".utf8.count < 150)
        #expect("\(SchemaError.unknownType("a\u{1b}é"))" == "unknown type 'a??'")
    }

    @Test func `a field of a nested object is named with its path`() throws {
        var object = try #require(
            IssueCode(
                subject: Examples.subject, purpose: .passwordReset, channel: .email, recipient: Examples.box("x"),
                account: Examples.account
            ).json.object)
        object["account"] = ["user": .string(Examples.account.user.text), "credentialVersion": -1]
        #expect(throws: SchemaError.malformed(type: MessageType.issueCode.name, field: "account.credentialVersion")) {
            try codec.decode(VerificationCommand.self, type: MessageType.issueCode.name, data: JSON.object(object).serialized())
        }
    }

    @Test func `a purpose has its one channel`() {
        #expect(Purpose.allCases.map(\.channel) == [.email, .email, .sms])
    }
}
