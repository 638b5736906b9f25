internal import Crypto
public import EventLog
internal import EventSchema
internal import Identifiers
internal import JSON
internal import LoopService
internal import Postgres
internal import Runtime

/// Brings the users of another system, from a file of JSON lines, by commands over the log as all else.
///
/// A line that cannot be taken is reported by its number and does not stop the rest. A user that is there already is left alone,
/// so the same file can be given again.
public struct UserImport: Sendable {
    public struct Summary: Sendable, Equatable {
        public var imported = 0
        /// There were such accounts already.
        public var existing = 0
        /// What was not imported, by line number, from 1.
        public var faults: [(line: Int, reason: String)] = []

        public static func == (left: Summary, right: Summary) -> Bool {
            left.imported == right.imported && left.existing == right.existing
                && left.faults.map(\.line) == right.faults.map(\.line) && left.faults.map(\.reason) == right.faults.map(\.reason)
        }
    }

    private let access: OperatorAccess
    private let patience: Interval

    /// Commands on the way at the same time.
    private static let window = 256

    public init(_ configuration: IdentityConfiguration, log: any EventLog) throws {
        self.init(try OperatorAccess(configuration, log: log))
    }

    init(_ access: OperatorAccess, patience: Interval = .seconds(30)) {
        self.access = access
        self.patience = patience
    }

    private struct Pending {
        var line: Int
        var content: ImportLine
        var id = MessageID.random()
    }

    /// Imports all lines. Blocks.
    ///
    /// - Parameters:
    ///   - next: the next line without its end; `nil` at the end.
    ///   - progress: told now and then what was done so far.
    public func run(next: () throws -> [UInt8]?, progress: (Summary) -> Void = { _ in }) throws -> Summary {
        let line = try access.line(patience: patience)
        defer { line.close() }
        let connection = try PostgresConnection(access.database)
        defer { connection.close() }
        var summary = Summary()
        var number = 0
        var isAtEnd = false
        while !isAtEnd {
            var batch: [Pending] = []
            while batch.count < Self.window {
                guard let bytes = try next() else {
                    isAtEnd = true
                    break
                }
                number += 1
                if bytes.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\t") }) {
                    continue
                }
                do throws(ImportLine.Fault) {
                    batch.append(Pending(line: number, content: try ImportLine(bytes)))
                } catch {
                    summary.faults.append((number, error.description))
                }
            }
            try send(batch, line, connection, &summary)
            summary.faults.sort { $0.line < $1.line }
            progress(summary)
        }
        return summary
    }

    private func send(
        _ batch: [Pending], _ line: OperatorLine, _ connection: PostgresConnection, _ summary: inout Summary
    ) throws {
        if batch.isEmpty { return }
        let made = try access.keys.make(batch.map { DataKeyID(of: $0.id) }, over: connection)
        let requests = batch.compactMap { pending in
            made[DataKeyID(of: pending.id)].map { key in
                let subject = pending.content.identifier.subject(by: access.routing)
                return OperatorLine.Request(
                    id: pending.id, command: command(pending.content, subject, key), home: subject.routingKey)
            }
        }
        let replies = try line.ask(requests)
        var unused: [DataKeyID] = []
        for pending in batch {
            switch replies[pending.id]?.outcome {
            case .ok: summary.imported += 1
            case .accountExists:
                summary.existing += 1
                unused.append(DataKeyID(of: pending.id))
            // Whether it was imported is not known, so its key stays.
            case nil: summary.faults.append((pending.line, "was not answered: no identity service has taken it in time"))
            case let outcome?: summary.faults.append((pending.line, "was refused: \(outcome.rawValue)"))
            }
        }
        if !unused.isEmpty { try connection.execute(access.keys.destroying(unused, for: .unused)) }
    }

    private func command(_ content: ImportLine, _ subject: Subject, _ key: DataKey) -> ImportUser {
        ImportUser(
            subject: subject, channel: content.identifier.channel,
            data: PersonalData(
                dataKey: key.id, identifier: key.seal(Array(content.identifier.text.utf8), as: .identifier),
                passwordHash: key.seal(Array(content.passwordHash.utf8), as: .passwordHash),
                profile: content.profile.isEmpty
                    ? nil : key.seal(JSON.object(content.profile).serialized(), as: .profile)),
            createdAt: content.createdAt, verifiedAt: content.verifiedAt, groups: content.groups, disabled: content.isDisabled)
    }
}
