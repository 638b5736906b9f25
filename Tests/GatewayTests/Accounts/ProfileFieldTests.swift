import EventSchema
import JSON
import Testing

@testable import GatewayService

@Suite struct `Fields of a profile` {
    private static let now = Timestamp(rfc3339: "2024-06-15T12:00:00.000Z")!.milliseconds

    private func read(_ object: JSONObject) throws -> (JSONObject, [FieldFault]) {
        var reader = try FieldReader(.object(object))
        let profile = reader.profile(at: Self.now)
        return (profile, reader.faults)
    }

    @Test func `are read in canonical spelling, and null stays`() throws {
        let (profile, faults) = try read([
            "displayName": "Zoe\u{308}", "givenName": nil, "birthDate": "2004-02-29", "locale": "EN-gb",
            "timeZone": "Europe/Paris",
            "custom": ["a": [1, "b"]], "other": 5,
        ])
        #expect(faults.isEmpty)
        #expect(
            profile == [
                "displayName": "Zo\u{eb}", "givenName": nil, "birthDate": "2004-02-29", "locale": "en-GB",
                "timeZone": "Europe/Paris", "custom": ["a": [1, "b"]],
            ])
    }

    @Test(
        arguments: [
            ("displayName", 5), ("displayName", .string(String(repeating: "x", count: 101))), ("givenName", "a\u{0}b"),
            ("familyName", [:]), ("birthDate", "2023-02-29"), ("birthDate", "2024-06-15"), ("birthDate", "2030-01-01"),
            ("birthDate", "1.1.2000"), ("birthDate", "2000-1-1"), ("locale", "x"), ("locale", "en_GB"),
            ("timeZone", "Mars/Olympus"),
            ("timeZone", "europe/paris"), ("custom", "text"), ("custom", []),
            ("custom", ["a": .string(String(repeating: "x", count: 4_096))]),
            ("custom", ["a": ["b\u{0}"]]), ("custom", ["a\u{0}": 1]),
        ] as [(String, JSON)])
    func `that are wrong are named`(name: String, value: JSON) throws {
        let (profile, faults) = try read([name: value])
        #expect(faults.map(\.path) == [name])
        #expect(profile.isEmpty)
    }

    @Test(arguments: ["UTC", "America/Argentina/Buenos_Aires", "US/Pacific", "Asia/Kolkata"])
    func `know zones and their links`(zone: String) throws {
        #expect(try read(["timeZone": .string(zone)]).1.isEmpty)
    }

    @Test func `are all named, in the order of the contract`() throws {
        let names = ProfileFields.names
        let (_, faults) = try read(JSONObject(names.reversed().map { ($0, JSON.bool(true)) }))
        #expect(faults.map(\.path) == names)
    }
}
