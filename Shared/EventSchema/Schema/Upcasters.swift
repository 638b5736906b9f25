public import JSON

/// Reads older versions: a chain of steps over the JSON, each from one version of a type to the next.
public struct Upcasters: Sendable {
    /// One step: from `from` to the version after it.
    public struct Step: Sendable {
        public let from: TypeName
        /// Gives the JSON form of the next version. Throws where a field is not what the older version says.
        public let transform: @Sendable (JSONObject) throws(SchemaError) -> JSONObject

        public init(from: TypeName, _ transform: @escaping @Sendable (JSONObject) throws(SchemaError) -> JSONObject) {
            self.from = from
            self.transform = transform
        }
    }

    /// A chain that cannot work. It is a mistake in the program, found when the chain is made.
    public enum Fault: Error, Hashable, Sendable {
        /// Two steps start from this version.
        case ambiguous(TypeName)
        /// The step leads to a version that is neither current nor the start of another step.
        case deadEnd(TypeName)
        /// The step starts from a version that is written now.
        case fromCurrent(TypeName)
    }

    /// No type has had a second version yet.
    public static let current = {
        do {
            return try Upcasters([])
        } catch {
            preconditionFailure("the chain of upcasters is broken: \(error)")
        }
    }()

    private let types: [String: MessageType]
    private let steps: [String: Step]

    /// `types` are the names of what is written now.
    public init(
        _ steps: [Step],
        types: [String: MessageType] = Dictionary(uniqueKeysWithValues: MessageType.allCases.map { ($0.name, $0) })
    ) throws(Fault) {
        var byName: [String: Step] = [:]
        for step in steps {
            guard types[step.from.description] == nil else { throw .fromCurrent(step.from) }
            guard byName.updateValue(step, forKey: step.from.description) == nil else { throw .ambiguous(step.from) }
        }
        // Versions only grow, so that there can be no circle.
        for step in steps {
            let next = step.from.next.description
            guard types[next] != nil || byName[next] != nil else { throw .deadEnd(step.from) }
        }
        self.types = types
        self.steps = byName
    }

    /// The current type that a name leads to. Throws `.unknownType` where no chain leads from it to one.
    public func current(of type: String) throws(SchemaError) -> MessageType {
        if let current = types[type] { return current }
        var name = type
        while let step = steps[name] {
            name = step.from.next.description
            if let current = types[name] { return current }
        }
        throw .unknownType(type)
    }

    /// The current type, and the data in its form.
    public func upcast(type: String, _ object: JSONObject) throws(SchemaError) -> (type: MessageType, object: JSONObject) {
        if let current = types[type] { return (current, object) }
        var name = type
        var object = object
        while let step = steps[name] {
            object = try step.transform(object)
            name = step.from.next.description
            if let current = types[name] { return (current, object) }
        }
        throw .unknownType(type)
    }
}
