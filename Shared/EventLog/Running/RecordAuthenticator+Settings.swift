internal import Crypto
public import EventLog
public import Runtime

extension RecordAuthenticator {
    /// The log's keys as settings give them, by their numbers.
    public init(_ keys: [NumberedSecret]) throws(LogError) {
        try self.init(keys: Dictionary(keys.map { (UInt32($0.number), $0.secret) }, uniquingKeysWith: { first, _ in first }))
    }
}
