import JSON

/// Reads the fields of a body one after the other, in the order of the contract, and collects everything that is wrong.
struct FieldReader {
    private let object: JSONObject
    private(set) var faults: [FieldFault] = []

    /// A body that is no object is refused as a whole: it has no fields to name.
    init(_ body: JSON) throws(APIError) {
        guard let object = body.object else { throw APIError(.validation, "The body must be a JSON object.") }
        self.object = object
    }

    /// Notes that a field is wrong.
    mutating func refuse(_ name: String, _ message: String) { faults.append(FieldFault(name, message)) }

    /// A text that must be there. `nil`: it is not, and that is noted. Fields given as `null` are missing.
    mutating func string(_ name: String) -> String? {
        guard let value = object[name], !value.isNull else {
            refuse(name, "Required.")
            return nil
        }
        guard let text = value.string else {
            refuse(name, "Must be a string.")
            return nil
        }
        guard !text.utf8.contains(0) else {
            refuse(name, "Must not contain NUL characters.")
            return nil
        }
        return text
    }

    /// One of the texts that an enumeration's cases stand for.
    mutating func choice<Value: RawRepresentable<String>>(_ name: String, of values: [Value]) -> Value? {
        guard let text = string(name) else { return nil }
        if let value = values.first(where: { $0.rawValue == text }) { return value }
        let names = values.map { "\"\($0.rawValue)\"" }
        refuse(name, names.count == 1 ? "Must be \(names[0])." : "Must be one of \(names.joined(separator: ", ")).")
        return nil
    }

    /// A one-time code: exactly six ASCII digits, spaces around them do not count.
    mutating func code(_ name: String) -> String? {
        guard let text = string(name) else { return nil }
        let code = text.trimmingSpaces
        guard code.utf8.count == 6, code.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else {
            refuse(name, "Must be exactly 6 digits.")
            return nil
        }
        return String(code)
    }

    /// A code that may be missing. `nil` too where it is wrong, which is noted.
    mutating func optionalCode(_ name: String) -> String? {
        guard let value = value(name), !value.isNull else { return nil }
        return code(name)
    }

    /// What stands there, without any judgement of it.
    func value(_ name: String) -> JSON? { object[name] }

    /// A text without any judgement of it.
    func peek(_ name: String) -> String? { object[name]?.string }

    /// What to throw when something is wrong.
    var error: APIError { .invalid(faults) }
}

extension String {
    /// Without white space at either end.
    var trimmingSpaces: Substring {
        let scalars = unicodeScalars
        guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
            let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
        else { return "" }
        return Substring(scalars[first...last])
    }
}
