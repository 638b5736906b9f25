public import Runtime

/// What middleware adds to a request for those behind it, one type per value.
public protocol ContextKey {
    associatedtype Value: Sendable
}

/// What is known about a request beside its message.
public struct RequestContext: Sendable {
    /// The client's `X-Request-Id` where it is well-formed, else a random one. It may be personal data: for the answer and
    /// for logs, never for commands or events.
    public let requestID: String
    /// The request's own span: of the trace that `traceparent` names, or of a new one.
    public let trace: TraceContext
    /// When the client gets its 504. Work that outlives it is lost.
    public let deadline: ContinuousClock.Instant
    /// The template of the matching route (`/users/{id}`), for metrics and logs; `nil` where none matched.
    public internal(set) var route: String?
    public internal(set) var parameters: PathParameters
    /// A handful: looking through them costs less than hashing.
    @usableFromInline var values: [(key: ObjectIdentifier, value: any Sendable)] = []

    public init(
        requestID: String, trace: TraceContext = .random(), deadline: ContinuousClock.Instant, route: String? = nil,
        parameters: PathParameters = PathParameters()
    ) {
        self.requestID = requestID
        self.trace = trace
        self.deadline = deadline
        self.route = route
        self.parameters = parameters
    }

    @inlinable public subscript<Key: ContextKey>(key: Key.Type) -> Key.Value? {
        get { values.first { $0.key == ObjectIdentifier(key) }?.value as? Key.Value }
        set {
            values.removeAll { $0.key == ObjectIdentifier(key) }
            if let newValue { values.append((ObjectIdentifier(key), newValue)) }
        }
    }

    /// What is left until the deadline, never negative.
    public var remaining: Duration { max(.zero, ContinuousClock.now.duration(to: deadline)) }
}

/// The values in a path that the template of its route names.
public struct PathParameters: Hashable, Sendable {
    private var items: [(name: String, value: String)]

    public init() { items = [] }

    init(names: [String], values: [String]) {
        items = zip(names, values).map { ($0, $1) }
    }

    public subscript(name: String) -> String? { items.first { $0.name == name }?.value }

    /// The parameter as a value of its type. Throws `HTTPFailure.notFound` if the text is no such value: a path that names
    /// nothing possible names nothing.
    public func require<Value: LosslessStringConvertible>(_ name: String, as type: Value.Type = String.self) throws(HTTPFailure)
        -> Value
    {
        guard let text = self[name], let value = Value(text) else { throw .notFound }
        return value
    }

    public static func == (left: PathParameters, right: PathParameters) -> Bool {
        left.items.elementsEqual(right.items) { $0 == $1 }
    }

    public func hash(into hasher: inout Hasher) {
        for item in items {
            hasher.combine(item.name)
            hasher.combine(item.value)
        }
    }
}
