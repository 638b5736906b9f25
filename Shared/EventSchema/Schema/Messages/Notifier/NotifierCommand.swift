/// What stands in `notifier.commands`.
public enum NotifierCommand: MessageSet {
    case retryDelivery(RetryDelivery)

    public static let types: [MessageType] = [.retryDelivery]

    public init?(type: MessageType, fields: Fields) throws(SchemaError) {
        switch type {
        case .retryDelivery: self = .retryDelivery(try RetryDelivery(fields: fields))
        default: return nil
        }
    }

    public var message: any Message {
        switch self {
        case .retryDelivery(let message): message
        }
    }
}
