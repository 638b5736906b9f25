import Glibc

/// A configuration of a service: one value, read once from the environment.
///
/// ```swift
/// struct GatewayConfiguration: ServiceConfiguration {
///     let common: CommonSettings
///     let port: Int
///
///     init(from settings: Settings) {
///         common = CommonSettings(from: settings)
///         port = settings.value("PORT", .port, default: 3001, "TCP port of the HTTP server.")
///     }
/// }
/// ```
/// The same declarations give the value, the faults, `--help` and the table in the README, so `init` asks for every variable
/// that there is, whatever the others say.
public protocol ServiceConfiguration: Sendable {
    var common: CommonSettings { get }
    init(from settings: Settings)
}

/// Reads typed settings from an environment and notes everything that is wrong with them.
///
/// A faulty or missing variable yields a placeholder, so that the remaining ones are looked at too; ``load(_:from:)`` then
/// throws all faults together. An empty variable counts as unset.
public final class Settings {
    /// What `--help` says of one variable.
    public struct Declaration: Sendable, Equatable {
        public var name: String
        public var aliases: [String]
        /// `nil`: there is none.
        public var defaultText: String?
        public var isRequired: Bool
        public var isSecret: Bool
        public var summary: String
    }

    /// What is wrong with a required variable that is not there.
    static let missing = "is not set"

    private let environment: Environment
    public private(set) var declarations: [Declaration] = []
    public private(set) var faults: [ConfigurationError.Fault] = []

    public init(_ environment: Environment) { self.environment = environment }

    /// A setting with a default.
    public func value<Value>(
        _ name: String, aliases: [String] = [], _ type: SettingType<Value>, default fallback: Value, _ summary: String
    ) -> Value {
        declare(name, aliases, type, default: type.isSecret ? nil : type.render(fallback), isRequired: false, summary)
        guard let (source, text) = find(name, aliases, type) else { return fallback }
        return parse(source, text, type)
    }

    /// A setting that must be there.
    public func required<Value>(_ name: String, aliases: [String] = [], _ type: SettingType<Value>, _ summary: String) -> Value {
        declare(name, aliases, type, default: nil, isRequired: true, summary)
        guard let (source, text) = find(name, aliases, type) else {
            if !faults.contains(where: { $0.variable == name || $0.variable == name + "_FILE" }) { fault(name, Self.missing) }
            return type.placeholder()
        }
        return parse(source, text, type)
    }

    /// A setting that may be missing.
    public func optional<Value>(_ name: String, aliases: [String] = [], _ type: SettingType<Value>, _ summary: String) -> Value? {
        declare(name, aliases, type, default: nil, isRequired: false, summary)
        guard let (source, text) = find(name, aliases, type) else { return nil }
        return parse(source, text, type)
    }

    /// All variables that begin with `prefix`, by the rest of their names, as they are.
    public func family(_ prefix: String, secret: Bool, _ summary: String) -> [String: String] {
        declarations.append(
            Declaration(name: prefix + "*", aliases: [], defaultText: nil, isRequired: false, isSecret: secret, summary: summary))
        var family: [String: String] = [:]
        for (name, text) in environment.variables where name.hasPrefix(prefix) && name.count > prefix.count {
            family[String(name.dropFirst(prefix.count))] = text
        }
        return family
    }

    /// Notes what the types cannot see: two settings that contradict each other, one that another one needs.
    public func fault(_ name: String, _ problem: String) {
        let fault = ConfigurationError.Fault(name, problem)
        if !faults.contains(fault) { faults.append(fault) }
    }

    /// Whether the variable, or its file, is set to something.
    public func isSet(_ name: String) -> Bool { text(name) != nil || text(name + "_FILE") != nil }

    private func declare<Value>(
        _ name: String, _ aliases: [String], _ type: SettingType<Value>, default fallback: String?, isRequired: Bool,
        _ summary: String
    ) {
        precondition(!declarations.contains { $0.name == name }, "\(name) is declared twice")
        declarations.append(
            Declaration(
                name: name, aliases: aliases, defaultText: fallback, isRequired: isRequired, isSecret: type.isSecret,
                summary: summary))
    }

    private func text(_ name: String) -> String? {
        guard let text = environment[name] else { return nil }
        let trimmed = Trimmed.spaces(text)
        return trimmed.isEmpty ? nil : trimmed
    }

    /// The variable that is set, and its text: the name before its aliases, the variable before its file.
    private func find<Value>(_ name: String, _ aliases: [String], _ type: SettingType<Value>) -> (source: String, text: String)? {
        for name in [name] + aliases {
            let direct = text(name)
            guard type.isSecret, let path = text(name + "_FILE") else {
                if let direct { return (name, direct) }
                continue
            }
            let source = name + "_FILE"
            if direct != nil {
                fault(source, "is set, and \(name) too")
                return nil
            }
            guard let bytes = SmallFile.bytes(at: path) else {
                fault(source, "names a file that cannot be read: \(String(cString: strerror(errno)))")
                return nil
            }
            let content = Trimmed.spaces(String(decoding: bytes, as: UTF8.self))
            guard !content.isEmpty else {
                fault(source, "names a file that is empty")
                return nil
            }
            return (source, content)
        }
        return nil
    }

    private func parse<Value>(_ source: String, _ text: String, _ type: SettingType<Value>) -> Value {
        if let value = type.parse(text) { return value }
        if type.isSecret {
            fault(source, "is not \(type.expectation)")
        } else {
            let shown = text.unicodeScalars.prefix(64).map { $0.value < 32 ? "?" : String($0) }.joined()
            fault(source, "is \"\(shown)\", which is not \(type.expectation)")
        }
        return type.placeholder()
    }

    /// Variables that begin with `LATCHKEY_` and that nothing here knows: misspelt, as a rule. Each with the known name that
    /// looks most like it, if one does.
    public func unknownVariables() -> [(name: String, suggestion: String?)] {
        let own = declarations.flatMap { [$0.name] + $0.aliases }
        let known = Set(own).union(own.map { $0 + "_FILE" }).union(SharedNames.all)
        let families = known.filter { $0.hasSuffix("*") }.map { $0.dropLast() }
        let isKnown = { (name: String) in known.contains(name) || families.contains { name.hasPrefix($0) } }
        return environment.variables.keys.filter { $0.hasPrefix("LATCHKEY_") && !isKnown($0) }.sorted().map { name in
            let nearest = known.map { (name: $0, distance: EditDistance.between($0, name)) }.min {
                ($0.distance, $0.name) < ($1.distance, $1.name)
            }
            return (name, nearest.flatMap { $0.distance <= 3 ? $0.name : nil })
        }
    }
}

/// A configuration, and what was noticed while it was read.
public struct Loaded<Configuration: ServiceConfiguration>: Sendable {
    public let configuration: Configuration
    public let unknownVariables: [(name: String, suggestion: String?)]
}

extension ServiceConfiguration {
    /// Throws all faults together.
    ///
    /// - Parameter dispensable: required variables that may be missing all the same; they have the placeholders of their types.
    public static func load(
        from environment: Environment, dispensable: Set<String> = []
    ) throws(ConfigurationError) -> Loaded<Self> {
        let settings = Settings(environment)
        let configuration = Self(from: settings)
        let faults = settings.faults.filter { $0.problem != Settings.missing || !dispensable.contains($0.variable) }
        guard faults.isEmpty else { throw ConfigurationError(faults) }
        return Loaded(configuration: configuration, unknownVariables: settings.unknownVariables())
    }

    /// Every variable that this configuration reads.
    public static var declarations: [Settings.Declaration] {
        let settings = Settings([:])
        _ = Self(from: settings)
        return settings.declarations
    }
}
