/// Routes by their segments. Nodes lie in one array and name each other by index, so that the whole is a value.
struct RouteTree: Sendable {
    struct Endpoint: Sendable {
        let template: String
        let parameterNames: [String]
        let bodyLimit: Int?
        /// Whether it counts against the limit of requests in flight.
        let isLimited: Bool
        let handler: Handler
    }

    enum Match: Sendable {
        case endpoint(Endpoint, PathParameters)
        /// The path is known, the method is not; `OPTIONS` is answered from this too.
        case otherMethods(template: String, allowed: [HTTPMethod])
        case none
    }

    private struct Node: Sendable {
        var literals: [String: Int] = [:]
        var parameter: Int?
        var endpoints: [HTTPMethod: Endpoint] = [:]
        var template = ""
    }

    private var nodes = [Node()]

    /// A template that is malformed or stands there already is a mistake of the program and stops it.
    mutating func insert(
        _ method: HTTPMethod, _ template: String, bodyLimit: Int?, isLimited: Bool = true, handler: @escaping Handler
    ) {
        precondition(template.hasPrefix("/"), "route \(template) must begin with a slash")
        var names: [String] = []
        var position = 0
        for segment in template.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            if segment.hasPrefix("{"), segment.hasSuffix("}") {
                let name = String(segment.dropFirst().dropLast())
                precondition(!name.isEmpty && !names.contains(name), "route \(template) names a parameter twice or not at all")
                names.append(name)
                position = nodes[position].parameter ?? append { $0.parameter = $1 }
            } else {
                position = nodes[position].literals[String(segment)] ?? append { $0.literals[String(segment)] = $1 }
            }
            func append(_ link: (inout Node, Int) -> Void) -> Int {
                link(&nodes[position], nodes.count)
                nodes.append(Node())
                return nodes.count - 1
            }
        }
        precondition(nodes[position].endpoints[method] == nil, "route \(method) \(template) stands twice")
        if nodes[position].endpoints.isEmpty { nodes[position].template = template }
        nodes[position].endpoints[method] = Endpoint(
            template: template, parameterNames: names, bodyLimit: bodyLimit, isLimited: isLimited, handler: handler)
    }

    /// The same routes, each handler inside another.
    func mapHandlers(_ change: (@escaping Handler) -> Handler) -> RouteTree {
        var tree = self
        for index in tree.nodes.indices {
            tree.nodes[index].endpoints = tree.nodes[index].endpoints.mapValues { endpoint in
                Endpoint(
                    template: endpoint.template, parameterNames: endpoint.parameterNames, bodyLimit: endpoint.bodyLimit,
                    isLimited: endpoint.isLimited, handler: change(endpoint.handler))
            }
        }
        return tree
    }

    func match(_ method: HTTPMethod, _ path: RequestPath) -> Match {
        var values: [String] = []
        guard let position = find(path.segments[...], from: 0, &values) else { return .none }
        let endpoints = nodes[position].endpoints
        if let endpoint = endpoints[method] ?? (method == .head ? endpoints[.get] : nil) {
            let isPlain = endpoint.parameterNames.isEmpty
            return .endpoint(
                endpoint, isPlain ? PathParameters() : PathParameters(names: endpoint.parameterNames, values: values))
        }
        return .otherMethods(template: nodes[position].template, allowed: RouteTree.answered(endpoints.keys))
    }

    /// Every method that some route answers, sorted.
    var methods: [HTTPMethod] { RouteTree.answered(nodes.flatMap(\.endpoints.keys)) }

    /// Methods with routes, and those that are answered from them.
    private static func answered(_ routed: some Sequence<HTTPMethod>) -> [HTTPMethod] {
        var methods = Set(routed)
        if methods.contains(.get) { methods.insert(.head) }
        methods.insert(.options)
        return methods.sorted { $0.rawValue < $1.rawValue }
    }

    /// The node of a path that has endpoints: literals first, parameters where no literal leads to one.
    private func find(_ segments: ArraySlice<String>, from position: Int, _ values: inout [String]) -> Int? {
        guard let segment = segments.first else { return nodes[position].endpoints.isEmpty ? nil : position }
        let rest = segments.dropFirst()
        if let next = nodes[position].literals[segment], let found = find(rest, from: next, &values) { return found }
        guard let next = nodes[position].parameter, !segment.isEmpty else { return nil }
        values.append(segment)
        if let found = find(rest, from: next, &values) { return found }
        values.removeLast()
        return nil
    }
}
