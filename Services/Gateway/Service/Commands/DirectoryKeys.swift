public import Crypto
public import EventSchema
import Runtime
public import Sealing

/// The keys that the topic `keys` tells.
public struct DirectoryKeys: RecipientKeys {
    private let directory: KeyDirectory

    public init(_ directory: KeyDirectory) { self.directory = directory }

    public func current(_ service: ServiceName) -> RecipientKey? {
        directory.recipient(service, at: Timestamp(milliseconds: WallClock.now()))
    }
}
