/// What stands in `identity.events`.
public enum IdentityEvent: MessageSet {
    case contactVerified(ContactVerified)

    public static let types: [MessageType] = [.contactVerified]

    public init?(type: MessageType, fields: Fields) throws(SchemaError) {
        switch type {
        case .contactVerified: self = .contactVerified(try ContactVerified(fields: fields))
        default: return nil
        }
    }

    public var message: any Message {
        switch self {
        case .contactVerified(let message): message
        }
    }
}
