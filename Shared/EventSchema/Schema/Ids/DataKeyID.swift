import Crypto

/// The id of a data key: what is known of one person is encrypted under it, and gone when it is destroyed.
public struct DataKeyID: UUIDIdentifier {
    public let uuid: UUIDBytes

    public init(uuid: UUIDBytes) { self.uuid = uuid }

    /// The key that a command brings. It follows from the command's id, so that a command that is worked on twice brings the
    /// same.
    public init(of command: MessageID) {
        self.init(uuid: MessageID(digest: SHA256.hash(Array("latchkey data key".utf8) + [0] + command.bytes)).uuid)
    }
}
