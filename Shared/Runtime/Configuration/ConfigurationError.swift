/// Everything that is wrong with the configuration of a service.
public struct ConfigurationError: Error, Equatable, CustomStringConvertible {
    public struct Fault: Equatable, Sendable, CustomStringConvertible {
        public var variable: String
        /// Completes a sentence that begins with the variable: `is not set`. Contains no secret value.
        public var problem: String

        public init(_ variable: String, _ problem: String) {
            self.variable = variable
            self.problem = problem
        }

        public var description: String { "\(variable) \(problem)" }
    }

    public var faults: [Fault]

    public init(_ faults: [Fault]) { self.faults = faults }

    /// One line for each fault.
    public var description: String { faults.map(\.description).joined(separator: "\n") }
}
