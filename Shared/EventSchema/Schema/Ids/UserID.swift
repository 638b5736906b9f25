/// The id of a user. It is never given twice.
public struct UserID: RoutedIdentifier {
    public static let maskLabel = "user"

    public let uuid: UUIDBytes

    public init?(uuid: UUIDBytes) {
        guard uuid.version == 8, uuid.isVariantRFC9562 else { return nil }
        self.uuid = uuid
    }
}
