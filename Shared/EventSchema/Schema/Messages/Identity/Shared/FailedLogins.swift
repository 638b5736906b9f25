import JSON

/// A budget of failed logins after one more.
public struct FailedLogins: Hashable, Sendable {
    /// Since the last quiet time, with this one.
    public var failures: Int64
    /// Until then nobody whose logins count here logs in; `nil` where there were not that many.
    public var blockedUntil: Timestamp?

    public init(failures: Int64, blockedUntil: Timestamp? = nil) {
        self.failures = failures
        self.blockedUntil = blockedUntil
    }

    init(fields: Fields) throws(SchemaError) {
        failures = try fields.integer("failures", in: 0...Int64.max)
        blockedUntil = try fields.optionalTime("blockedUntil")
    }

    var json: JSON {
        [
            "failures": .integer(failures),
            "blockedUntil": .text(blockedUntil?.rfc3339),
        ]
    }
}
