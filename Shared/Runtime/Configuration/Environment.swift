@preconcurrency import Glibc

/// Environment variables.
public struct Environment: Sendable, ExpressibleByDictionaryLiteral {
    public let variables: [String: String]

    public init(_ variables: [String: String]) { self.variables = variables }

    public init(dictionaryLiteral elements: (String, String)...) {
        self.init(Dictionary(elements, uniquingKeysWith: { $1 }))
    }

    /// Those of this process. Read once, before there are other threads.
    public static func ofProcess() -> Environment {
        var variables: [String: String] = [:]
        var pointer: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = environ
        while let current = pointer, let entry = current.pointee {
            let text = String(cString: entry)
            if let equals = text.firstIndex(of: "="), variables[String(text[..<equals])] == nil {
                variables[String(text[..<equals])] = String(text[text.index(after: equals)...])
            }
            pointer = current.successor()
        }
        return Environment(variables)
    }

    public subscript(_ name: String) -> String? { variables[name] }
}
