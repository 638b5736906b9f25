/// What stands in `notifier.events`.
public enum NotifierEvent: MessageSet {
    case deliveryAttempted(DeliveryAttempted)
    case delivered(Delivered)
    case deliveryFailed(DeliveryFailed)
    case deliveryUnknown(DeliveryUnknown)
    case deliveryExpired(DeliveryExpired)

    public static let types: [MessageType] = [
        .deliveryAttempted, .delivered, .deliveryFailed, .deliveryUnknown, .deliveryExpired,
    ]

    public init?(type: MessageType, fields: Fields) throws(SchemaError) {
        switch type {
        case .deliveryAttempted: self = .deliveryAttempted(try DeliveryAttempted(fields: fields))
        case .delivered: self = .delivered(try Delivered(fields: fields))
        case .deliveryFailed: self = .deliveryFailed(try DeliveryFailed(fields: fields))
        case .deliveryUnknown: self = .deliveryUnknown(try DeliveryUnknown(fields: fields))
        case .deliveryExpired: self = .deliveryExpired(try DeliveryExpired(fields: fields))
        default: return nil
        }
    }

    public var message: any Message {
        switch self {
        case .deliveryAttempted(let message): message
        case .delivered(let message): message
        case .deliveryFailed(let message): message
        case .deliveryUnknown(let message): message
        case .deliveryExpired(let message): message
        }
    }
}
