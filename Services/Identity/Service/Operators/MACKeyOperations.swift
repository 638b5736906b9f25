public import EventLog
internal import EventSchema
internal import LoopService
internal import Runtime
internal import Sealing

/// What operators do with the log's MAC keys, as text for a terminal. Every call blocks.
public struct MACKeyOperations: Sendable {
    private let log: any EventLog
    private let macKeys: [NumberedSecret]
    private let patience: Duration

    public init(_ configuration: IdentityConfiguration, log: any EventLog) {
        self.init(log: log, macKeys: configuration.common.macKeys, patience: .seconds(15))
    }

    /// - Parameter patience: how long the log, answers and owners are waited for.
    init(log: any EventLog, macKeys: [NumberedSecret], patience: Duration) {
        self.log = log
        self.macKeys = macKeys
        self.patience = patience
    }

    /// Under which key each chain is written.
    public func status() throws -> String {
        try run { rotation in
            let rows = try rotation.chains().map { chain in
                [chain.partition.description, chain.key.map(String.init) ?? "nothing written"]
            }
            return TextTable.text(["CHAIN", "MAC KEY"], [["everything else", String(rotation.current)]] + rows)
        }
    }

    /// Goes over to the next key, where every service that answers holds it.
    ///
    /// - Parameters:
    ///   - isAbsenceFine: also where not all services are running.
    ///   - say: is told what happens, line by line.
    /// - Returns: whether every chain is written under the new key.
    public func rotate(isAbsenceFine: Bool, say: (String) -> Void) throws -> Bool {
        try run { rotation in
            guard let key = rotation.next else {
                say("MAC key \(rotation.current + 1) is not among LATCHKEY_LOG_MAC_KEYS")
                return false
            }
            let holdings = try rotation.ask(about: key)
            let lacking = holdings.filter { $0.lacking > 0 }
            for holding in lacking {
                say(
                    "\(holding.service.rawValue): \(holding.lacking) of \(holding.lacking + holding.holding) do not hold MAC key \(key)"
                )
            }
            if !lacking.isEmpty { return false }
            let absent = holdings.filter { $0.holding == 0 }
            for holding in absent { say("\(holding.service.rawValue): nobody has answered") }
            guard absent.isEmpty || isAbsenceFine else { return false }

            try rotation.introduce(key)
            say("MAC key \(key) is introduced; \(holdings.reduce(0) { $0 + $1.holding }) processes hold it")
            let behind = try rotation.waitForChains(under: key)
            for chain in behind { say("\(chain.partition) is not written under it yet: nobody decides it now") }
            if behind.isEmpty { say("all chains are written under it") }
            return behind.isEmpty
        }
    }

    private func run<Value>(_ body: (MACKeyRotation) throws -> Value) throws -> Value {
        let rotation = try MACKeyRotation(log: log, authenticator: try RecordAuthenticator(macKeys), patience: patience)
        defer { rotation.close() }
        return try body(rotation)
    }
}
