internal import Crypto
internal import EventSchema
internal import Identifiers
internal import JSON

/// One line of a file of users: a JSON object.
///
/// | member | |
/// |---|---|
/// | `email` or `phoneNumber` | exactly one of them, in any form that a client may enter |
/// | `passwordHash` | in a form that `PasswordHash` reads |
/// | `emailVerifiedAt`, `phoneVerifiedAt` | when the other system verified it; RFC 3339, may be missing |
/// | `createdAt` | RFC 3339, may be missing |
/// | `groups` | texts, may be missing |
/// | `disabled` | may be missing |
/// | `profile` | an object with the fields of the HTTP contract, may be missing |
struct ImportLine: Sendable {
    /// What is wrong with a line. It says nothing of what stands in it.
    struct Fault: Error, Equatable, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }

    var identifier: Identifier
    var passwordHash: String
    var verifiedAt: Timestamp?
    var createdAt: Timestamp?
    var groups: [String]
    var isDisabled: Bool
    var profile: JSONObject

    private static let members: Set<String> = [
        "email", "phoneNumber", "passwordHash", "emailVerifiedAt", "phoneVerifiedAt", "createdAt", "groups", "disabled",
        "profile",
    ]
    private static let texts: Set<String> = ["displayName", "givenName", "familyName", "birthDate", "locale", "timeZone"]
    private static let longestText = 100
    private static let largestCustom = 4_096
    private static let mostGroups = 32

    init(_ line: [UInt8]) throws(Fault) {
        guard line.count <= LineFile.longest else { throw Fault("has more than \(LineFile.longest) bytes") }
        guard case .object(let object)? = try? JSON.parse(line) else { throw Fault("is no JSON object") }
        // A misspelt name would lose what it stands for.
        if let unknown = object.keys.first(where: { !Self.members.contains($0) }) {
            throw Fault("has an unknown member, number \(Self.place(of: unknown, in: object))")
        }
        identifier = try Self.identifier(in: object)
        guard let hash = object["passwordHash"]?.string, PasswordHash(hash) != nil else {
            throw Fault("has no passwordHash that can be read")
        }
        passwordHash = hash
        let stamp = identifier.channel == .email ? "emailVerifiedAt" : "phoneVerifiedAt"
        let other = identifier.channel == .email ? "phoneVerifiedAt" : "emailVerifiedAt"
        guard object[other].map(\.isNull) ?? true else { throw Fault("has \(other) for an identifier that it does not have") }
        verifiedAt = try Self.time(object, stamp)
        createdAt = try Self.time(object, "createdAt")
        groups = try Self.groups(in: object)
        switch object["disabled"] {
        case nil, .null?: isDisabled = false
        case .bool(let flag)?: isDisabled = flag
        default: throw Fault("has a member disabled that is neither true nor false")
        }
        profile = try Self.profile(in: object)
    }

    private static func place(of name: String, in object: JSONObject) -> Int {
        (object.keys.enumerated().first { $0.element == name }?.offset ?? 0) + 1
    }

    private static func identifier(in object: JSONObject) throws(Fault) -> Identifier {
        let (email, phone) = (object["email"]?.string, object["phoneNumber"]?.string)
        switch (email, phone) {
        case (let email?, nil):
            guard let identifier = try? Identifier(email, for: .email) else { throw Fault("has no valid email") }
            return identifier
        case (nil, let phone?):
            guard let identifier = try? Identifier(phone, for: .sms) else { throw Fault("has no valid phoneNumber") }
            return identifier
        default: throw Fault("has not exactly one of email and phoneNumber")
        }
    }

    private static func time(_ object: JSONObject, _ name: String) throws(Fault) -> Timestamp? {
        guard let value = object[name], !value.isNull else { return nil }
        guard let time = value.string.flatMap(Self.time(in:)) else { throw Fault("has no valid \(name)") }
        return time
    }

    /// Any form that RFC 3339 allows: with or without a fraction (cut to milliseconds), in UTC or with an offset.
    static func time(in text: String) -> Timestamp? {
        let bytes = Array(text.utf8)
        guard bytes.count >= 20 else { return nil }
        var rest = bytes[19...]
        var fraction: [UInt8] = []
        if rest.first == UInt8(ascii: ".") {
            fraction = Array(rest.dropFirst().prefix { (48...57).contains($0) })
            rest = rest.dropFirst(1 + fraction.count)
            if fraction.isEmpty { return nil }
        }
        let milliseconds = String(decoding: (fraction + [48, 48, 48]).prefix(3), as: UTF8.self)
        let second = String(decoding: bytes[..<19], as: UTF8.self).uppercased()
        guard let local = Timestamp(rfc3339: "\(second).\(milliseconds)Z") else { return nil }
        if rest.elementsEqual([UInt8(ascii: "Z")]) || rest.elementsEqual([UInt8(ascii: "z")]) { return local }
        let offset = String(decoding: rest, as: UTF8.self).split(separator: ":", omittingEmptySubsequences: false)
        guard offset.count == 2, offset[0].utf8.count == 3, offset[1].utf8.count == 2,
            let hours = Int64(offset[0].dropFirst()), let minutes = Int64(offset[1]), (0...23).contains(hours),
            (0...59).contains(minutes)
        else { return nil }
        let ahead = (hours * 60 + minutes) * 60_000
        switch offset[0].first {
        case "+": return Timestamp(milliseconds: local.milliseconds - ahead)
        case "-": return Timestamp(milliseconds: local.milliseconds + ahead)
        default: return nil
        }
    }

    private static func groups(in object: JSONObject) throws(Fault) -> [String] {
        guard let value = object["groups"], !value.isNull else { return [] }
        guard let groups = value.array?.compactMap(\.string), groups.count == value.array?.count, groups.count <= mostGroups,
            groups.allSatisfy({ GroupName.isValid($0) })
        else { throw Fault("has groups that are none") }
        return Set(groups).sorted()
    }

    private static func profile(in object: JSONObject) throws(Fault) -> JSONObject {
        guard let value = object["profile"], !value.isNull else { return [:] }
        guard let profile = value.object else { throw Fault("has a profile that is no object") }
        for (name, value) in profile {
            if name == "custom" {
                guard value.object != nil, value.serialized().count <= largestCustom else {
                    throw Fault("has a profile whose custom is no object, or too large")
                }
            } else {
                guard texts.contains(name) else { throw Fault("has a profile with an unknown field") }
                guard let text = value.string, text.unicodeScalars.count <= longestText, !text.utf8.contains(0) else {
                    throw Fault("has a profile whose \(name) is no text of at most \(longestText) characters")
                }
            }
        }
        return profile
    }
}

/// What groups may be called: they stand in tokens.
enum GroupName {
    static func isValid(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."): true
                default: false
                }
            }
    }
}
