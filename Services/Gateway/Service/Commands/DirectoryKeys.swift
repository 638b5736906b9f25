public import Crypto
public import EventLog
public import EventSchema
public import Sealing

/// The keys that the topic `keys` tells.
public struct DirectoryKeys: RecipientKeys {
    private let directory: KeyDirectory
    private let time: LogTime

    public init(_ directory: KeyDirectory, time: LogTime) {
        self.directory = directory
        self.time = time
    }

    public func current(_ service: ServiceName) -> RecipientKey? { time.now.flatMap { directory.recipient(service, at: $0) } }
}
