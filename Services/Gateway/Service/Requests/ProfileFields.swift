import EventSchema
import Identifiers
import JSON
import Runtime

/// The fields of a profile and what they may hold.
enum ProfileFields {
    static let texts = ["displayName", "givenName", "familyName"]
    /// In Unicode scalars.
    static let maximumCount = 100
    /// Of `custom` as JSON, in bytes.
    static let customLimit = 4_096

    /// In the order of the contract.
    static let names = texts + ["birthDate", "locale", "timeZone", "custom"]
}

extension FieldReader {
    /// The profile fields that are there. `null` stands for one that is to be removed.
    ///
    /// - Parameter now: milliseconds since 1970.
    mutating func profile(at now: Int64 = WallClock.now()) -> JSONObject {
        var profile = JSONObject()
        for name in ProfileFields.names {
            guard let value = value(name) else { continue }
            if value.isNull {
                profile[name] = .null
            } else if let read = read(name, value, at: now) {
                profile[name] = read
            }
        }
        return profile
    }

    private mutating func read(_ name: String, _ value: JSON, at now: Int64) -> JSON? {
        if name == "custom" { return custom(name, value) }
        guard let text = string(name)?.nfc else { return nil }
        guard text.unicodeScalars.count <= ProfileFields.maximumCount else {
            refuse(name, "Must be at most \(ProfileFields.maximumCount) characters long.")
            return nil
        }
        switch name {
        case "birthDate":
            guard let day = Timestamp(rfc3339: text + "T00:00:00.000Z") else {
                refuse(name, "Must be a date such as 2001-02-28.")
                return nil
            }
            // The day must be over, in UTC.
            guard day + .days(1) <= Timestamp(milliseconds: now) else {
                refuse(name, "Must be in the past.")
                return nil
            }
        case "locale":
            guard let tag = LanguageTag(text) else {
                refuse(name, "Must be a language tag such as en-GB.")
                return nil
            }
            return .string(tag.text)
        case "timeZone":
            guard TimeZoneNames.all.contains(text[...]) else {
                refuse(name, "Must be a time zone such as Europe/Paris.")
                return nil
            }
        default: break
        }
        return .string(text)
    }

    private mutating func custom(_ name: String, _ value: JSON) -> JSON? {
        guard value.object != nil else {
            refuse(name, "Must be an object.")
            return nil
        }
        guard value.serialized().count <= ProfileFields.customLimit else {
            refuse(name, "Must be at most \(ProfileFields.customLimit) bytes of JSON.")
            return nil
        }
        guard !value.holdsNUL else {
            refuse(name, "Must not contain NUL characters.")
            return nil
        }
        return value
    }
}

extension JSON {
    /// Whether a NUL stands in any of its texts.
    fileprivate var holdsNUL: Bool {
        switch self {
        case .string(let text): text.utf8.contains(0)
        case .array(let values): values.contains(where: \.holdsNUL)
        case .object(let object): object.keys.contains { $0.utf8.contains(0) || object[$0]?.holdsNUL == true }
        default: false
        }
    }
}
