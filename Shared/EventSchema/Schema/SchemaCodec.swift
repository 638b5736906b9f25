import JSON

/// A message as it stands in a record: the name for `ce_type`, the bytes of the value.
public struct EncodedMessage: Hashable, Sendable {
    public var type: String
    public var data: [UInt8]

    public init(type: String, data: [UInt8]) {
        self.type = type
        self.data = data
    }
}

/// Between typed messages and records.
public struct SchemaCodec: Sendable {
    public let upcasters: Upcasters

    /// What is read and written by this release.
    public static let current = SchemaCodec(upcasters: .current)

    public init(upcasters: Upcasters) { self.upcasters = upcasters }

    public func encode(_ message: some Message) -> EncodedMessage {
        EncodedMessage(type: Swift.type(of: message).type.name, data: message.json.serialized())
    }

    public func encode(_ message: some MessageSet) -> EncodedMessage { encode(message.message) }

    /// Reads a message that must be of one type, in any version that was ever written.
    public func decode<M: Message>(_ message: M.Type, type: String, data: [UInt8]) throws(SchemaError) -> M {
        let (current, fields) = try fields(type: type, data: data)
        guard current == M.type else { throw .misplaced(current) }
        return try M(fields: fields)
    }

    /// Reads a message of a set, in any version that was ever written.
    public func decode<S: MessageSet>(_ set: S.Type, type: String, data: [UInt8]) throws(SchemaError) -> S {
        let (current, fields) = try fields(type: type, data: data)
        guard let message = try S(type: current, fields: fields) else { throw .misplaced(current) }
        return message
    }

    /// Reads any message, in any version that was ever written.
    public func decode(type: String, data: [UInt8]) throws(SchemaError) -> any Message {
        let (current, fields) = try fields(type: type, data: data)
        return try current.message.init(fields: fields)
    }

    private func fields(type: String, data: [UInt8]) throws(SchemaError) -> (MessageType, Fields) {
        let object: JSONObject
        do {
            guard case .object(let parsed) = try JSON.parse(data) else { throw SchemaError.notAnObject(type: type) }
            object = parsed
        } catch {
            // Whether the type is known matters more than what is wrong with the data.
            _ = try upcasters.current(of: type)
            throw .notAnObject(type: type)
        }
        let (current, upcast) = try upcasters.upcast(type: type, object)
        return (current, Fields(type: current.name, upcast))
    }
}
