/// The id of a session of a user who has signed in: `sid` in access tokens.
public struct SessionID: UUIDIdentifier {
    public let uuid: UUIDBytes

    public init(uuid: UUIDBytes) { self.uuid = uuid }

    /// 122 bits from the CSPRNG, as a version 4 UUID.
    public static func random() -> SessionID { SessionID(uuid: .random(version: 4)) }
}
