internal import EventSchema
internal import Runtime

/// What follows `identity audit` on the command line.
struct AuditArguments: Equatable, Sendable {
    enum Task: Equatable, Sendable {
        /// The history of a user or an identifier.
        case user(String)
        /// Everything.
        case log
        case prove
        case erased(String)
        /// The key that proofs are signed with.
        case key
    }

    enum Format: String, CaseIterable, Sendable {
        case table, jsonl, csv
    }

    /// What is wrong, without a word of what was given.
    struct Fault: Error, Equatable, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }

    var task: Task
    var since: Timestamp?
    var until: Timestamp?
    var types: [String] = []
    var follow = false
    var format = Format.table
    var reveal = false
    var withoutKeys = false
    /// The file of an earlier proof.
    var earlier: String?
    /// The file that a proof goes to; `-` is standard output.
    var output: String?
    /// Whose signature the earlier proof must have.
    var publicKey: String?

    static let usage = """
        identity audit user ID|EMAIL|PHONE [--since TIME] [--until TIME] [--type NAME]… [--follow] [--format table|jsonl|csv] [--reveal]
               identity audit log [the same options]
               identity audit erased ID
               identity audit prove [--without-keys] [--since PROOF] [--key KEY] [--output FILE] [--format table|jsonl]
               identity audit key
        """

    /// - Parameter now: what durations count back from.
    init(_ arguments: [String], now: Timestamp) throws(Fault) {
        var rest = arguments[...]
        let name = rest.popFirst()
        switch name {
        case "user", "erased":
            guard let who = rest.popFirst(), !who.hasPrefix("--") else { throw Fault("\(name ?? "") whom?") }
            task = name == "user" ? .user(who) : .erased(who)
        case "log": task = .log
        case "prove": task = .prove
        case "key": task = .key
        default: throw Fault("audit what?")
        }
        while let argument = rest.popFirst() {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            func value() throws(Fault) -> String {
                if parts.count == 2 { return parts[1] }
                guard let next = rest.popFirst() else { throw Fault("\(parts[0]) what?") }
                return next
            }
            try take(parts[0], hasValue: parts.count == 2, value, now: now)
        }
        if follow, until != nil { throw Fault("--follow has no end, and --until is one") }
        if let since, let until, until < since { throw Fault("--until comes before --since") }
    }

    private mutating func take(
        _ option: String, hasValue: Bool, _ value: () throws(Fault) -> String, now: Timestamp
    ) throws(Fault) {
        func flag() throws(Fault) -> Bool {
            if hasValue { throw Fault("\(option) takes no value") }
            return true
        }
        let isHistory =
            switch task {
            case .user, .log: true
            default: false
            }
        switch (option, isHistory, task) {
        case ("--since", true, _): since = try Self.time(value(), option, now: now)
        case ("--until", true, _): until = try Self.time(value(), option, now: now)
        case ("--type", true, _): types += try value().split(separator: ",").map(String.init)
        case ("--follow", true, _): follow = try flag()
        case ("--reveal", true, _): reveal = try flag()
        case ("--format", true, _), ("--format", _, .prove):
            guard let format = Format(rawValue: try value()), isHistory || format != .csv else {
                throw Fault(isHistory ? "--format is table, jsonl or csv" : "--format is table or jsonl")
            }
            self.format = format
        case ("--without-keys", _, .prove): withoutKeys = try flag()
        case ("--since", _, .prove): earlier = try value()
        case ("--output", _, .prove): output = try value()
        case ("--key", _, .prove): publicKey = try value()
        default: throw Fault(option.hasPrefix("--") ? "\(option) means nothing here" : "there is an argument too many")
        }
    }

    /// RFC 3339, a day, or how long ago.
    private static func time(_ text: String, _ option: String, now: Timestamp) throws(Fault) -> Timestamp {
        if let ago = DurationText.parse(text) {
            return now - Interval(ago)
        }
        guard let time = ImportLine.time(in: text) ?? Timestamp(rfc3339: text + "T00:00:00.000Z") else {
            throw Fault("\(option) is a time such as 2026-01-31T12:00:00Z, a day such as 2026-01-31, or how long ago: 2h, 30m")
        }
        return time
    }
}

/// Which events are wanted, by the names of their types.
struct TypeFilter: Equatable, Sendable {
    let names: [String]

    /// A name stands for every type that begins or ends with it, `latchkey.` and the version aside: `identity`, `login-failed`.
    func takes(_ type: String) -> Bool {
        if names.isEmpty { return true }
        let bare = Self.bare(type)
        return names.contains { name in
            type.hasPrefix(name) || type.hasSuffix(name) || bare.hasPrefix(name) || bare.hasSuffix(name)
        }
    }

    /// Without `latchkey.` and the version.
    static func bare(_ type: String) -> String {
        let name = type.hasPrefix("latchkey.") ? String(type.dropFirst("latchkey.".count)) : type
        return TypeName(name)?.base ?? name
    }
}
