internal import Crypto
public import EventLog
internal import EventSchema
internal import Identifiers
internal import JSON
internal import LoopService
internal import Postgres
internal import Projections
internal import Runtime

/// What operators do with single users. They are named by their id, e-mail address or phone number. Every call blocks.
public struct UserOperations: Sendable {
    public enum Change: Sendable {
        case disable, enable
        case groups([String])
    }

    public enum Answer: Equatable, Sendable, CustomStringConvertible {
        case done
        case unknownUser
        case invalidGroup
        /// Nobody has answered; Identity may be away. It does nothing about it any more.
        case silence
        case refused(String)

        public var description: String {
            switch self {
            case .done: "done"
            case .unknownUser: "there is no such user"
            case .invalidGroup: "a group is named by 1 to 64 of A-Z, a-z, 0-9, _, - and ."
            case .silence: "no identity service has answered"
            case .refused(let outcome): "refused: \(outcome)"
            }
        }
    }

    private let access: OperatorAccess
    private let directory: AccountDirectory
    private let patience: Interval

    public init(_ configuration: IdentityConfiguration, log: any EventLog) throws {
        self.init(try OperatorAccess(configuration, log: log))
    }

    init(_ access: OperatorAccess, patience: Interval = .seconds(10)) {
        self.access = access
        directory = AccountDirectory(keys: access.keys)
        self.patience = patience
    }

    /// What is known of a user, for a terminal: addresses and numbers masked. `nil` where there is no such user.
    public func show(_ name: String) throws -> String? {
        guard let found = try find(name) else { return nil }
        let (account, sessions) = found
        var lines = [
            ("id", account.user.text), ("status", account.isDisabled ? "disabled" : "enabled"),
            ("created", account.createdAt.rfc3339), ("groups", account.groups.joined(separator: " ")),
            ("credential", "version \(account.credentialVersion)"),
        ]
        for identifier in account.identifiers {
            let text = account.key.text(identifier.encrypted, .identifier).map { Mask.outline(of: $0) } ?? "unreadable"
            lines.append(
                (
                    identifier.channel.rawValue,
                    text + (identifier.verifiedAt.map { ", verified \($0.rfc3339)" } ?? ", not verified")
                ))
        }
        lines.append(("sessions", String(sessions.count)))
        return lines.map { name, value in name + String(repeating: " ", count: 12 - name.utf8.count) + value + "\n" }.joined()
    }

    /// Asks for a change, and waits until it has happened.
    public func change(_ name: String, _ change: Change) throws -> Answer {
        if case .groups(let groups) = change, !groups.allSatisfy(GroupName.isValid) { return .invalidGroup }
        guard let user = try find(name)?.account.user else { return .unknownUser }
        let command: any Message =
            switch change {
            case .disable: DisableUser(user: user)
            case .enable: EnableUser(user: user)
            case .groups(let groups): SetGroups(user: user, groups: Set(groups).sorted())
            }
        let line = try access.line(patience: patience)
        defer { line.close() }
        let request = OperatorLine.Request(id: .random(), command: command, home: access.routing.routingKey(of: user))
        switch try line.ask([request])[request.id]?.outcome {
        case .ok: return .done
        case .notFound: return .unknownUser
        case nil: return .silence
        case let outcome?: return .refused(outcome.rawValue)
        }
    }

    private func find(_ name: String) throws -> (account: AccountRecord, sessions: [SessionRecord])? {
        let connection = try PostgresConnection(access.database)
        defer { connection.close() }
        var request = AccountDirectory.Request()
        if let user = UserID(name) {
            request.sessionsOf.insert(user)
        } else {
            let subject =
                (try? Identifier(name, for: .email))?.subject(by: access.routing)
                ?? (try? Identifier(name, for: .sms))?.subject(by: access.routing)
            guard let subject else { return nil }
            let known = AccountDirectory.Request(subjects: [subject])
            guard let user = try directory.look(up: known, over: connection).account(of: subject)?.user else { return nil }
            request.sessionsOf.insert(user)
        }
        let records = try directory.look(up: request, over: connection)
        guard let account = records.users.values.first else { return nil }
        return (account, records.sessions[account.user] ?? [])
    }
}
