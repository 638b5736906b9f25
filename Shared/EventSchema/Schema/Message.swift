public import JSON

/// A command, event or reply: a plain value with a versioned name and a JSON form. The JSON form of a type never changes; a
/// change of meaning is a new type.
public protocol Message: Sendable, Equatable {
    static var type: MessageType { get }

    /// Reads the JSON form of the current version. Fields that it does not know are ignored.
    init(fields: Fields) throws(SchemaError)

    /// The JSON form. What is absent is written as `null`.
    var json: JSON { get }
}

/// All messages of one topic, or of one role in it: what a reader switches over.
public protocol MessageSet: Sendable, Equatable {
    /// The types that belong to the set.
    static var types: [MessageType] { get }

    /// `nil` where the type is not of this set.
    init?(type: MessageType, fields: Fields) throws(SchemaError)

    /// The message of this case.
    var message: any Message { get }
}
