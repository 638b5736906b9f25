import EventSchema
import Identifiers
import JSON
import Testing

@testable import IdentityService

@Suite struct ImportLineTests {
    private static let hash = "$2b$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"

    private func line(_ members: String) throws -> ImportLine {
        try ImportLine(Array(#"{"passwordHash":"\#(Self.hash)",\#(members)}"#.utf8))
    }

    @Test func `a whole line`() throws {
        let line = try line(
            #"""
            "email":" Ada@Example.COM ","emailVerifiedAt":"2020-01-02T03:04:05Z","createdAt":"2019-01-02T03:04:05.678Z",
            "groups":["testing","admin","admin"],"disabled":true,"profile":{"displayName":"Ada","custom":{"a":1}}
            """#)
        #expect(line.identifier.text == "ada@example.com")
        #expect(line.passwordHash == Self.hash)
        #expect(line.verifiedAt == Timestamp(rfc3339: "2020-01-02T03:04:05.000Z"))
        #expect(line.createdAt == Timestamp(rfc3339: "2019-01-02T03:04:05.678Z"))
        #expect(line.groups == ["admin", "testing"])
        #expect(line.isDisabled)
        #expect(line.profile == ["displayName": "Ada", "custom": ["a": 1]])
    }

    @Test(arguments: ["KELVIN\u{212A}@example.com", "kelvink@EXAMPLE.com", "\u{3000}kelvink@example.com"])
    func `an address has one form, however it is written`(address: String) throws {
        #expect(try line(#""email":"\#(address)""#).identifier.text == "kelvink@example.com")
    }

    @Test(arguments: ["+12025550148", "+1 (202) 555-0148", "+1-202-555-0148"]) func `so has a number`(number: String) throws {
        #expect(try line(#""phoneNumber":"\#(number)""#).identifier.text == "+12025550148")
    }

    @Test(arguments: [
        ("2020-01-02T03:04:05Z", "2020-01-02T03:04:05.000Z"), ("2020-01-02t03:04:05.6z", "2020-01-02T03:04:05.600Z"),
        ("2020-01-02T03:04:05.678999+02:00", "2020-01-02T01:04:05.678Z"),
        ("2020-01-02T03:04:05-01:30", "2020-01-02T04:34:05.000Z"),
    ]) func `a time may have any form of RFC 3339`(text: String, time: String) {
        #expect(ImportLine.time(in: text)?.rfc3339 == time)
    }

    @Test(arguments: [
        "", "2020-01-02", "2020-01-02T03:04:05", "2020-01-02T03:04:05.Z", "2020-01-02T03:04:05+2:00", "2020-01-02T03:04:05 02:00",
        "2020-01-02T03:04:05+24:00", "2020-02-30T03:04:05Z", "2020-01-02T03:04:05+-1:00", "2020-01-02T03:04:05Zx",
    ]) func `anything else is no time`(text: String) {
        #expect(ImportLine.time(in: text) == nil)
    }

    @Test func `what may be missing may be null`() throws {
        let line = try line(
            #""email":"a@example.com","emailVerifiedAt":null,"createdAt":null,"groups":null,"disabled":null,"profile":null"#)
        #expect(
            line.verifiedAt == nil && line.createdAt == nil && line.groups.isEmpty && !line.isDisabled && line.profile.isEmpty)
    }

    @Test(arguments: [
        (#""phoneNumber":"+12025550148","email":"a@example.com""#, "has not exactly one of email and phoneNumber"),
        (#""groups":[]"#, "has not exactly one of email and phoneNumber"),
        (#""email":"nobody""#, "has no valid email"), (#""phoneNumber":"12""#, "has no valid phoneNumber"),
        (#""email":"a@example.com","emailVerified":true"#, "has an unknown member, number 3"),
        (
            #""email":"a@example.com","phoneVerifiedAt":"2020-01-02T03:04:05Z""#,
            "has phoneVerifiedAt for an identifier that it does not have"
        ),
        (#""email":"a@example.com","createdAt":"yesterday""#, "has no valid createdAt"),
        (#""email":"a@example.com","groups":["a b"]"#, "has groups that are none"),
        (#""email":"a@example.com","groups":[1]"#, "has groups that are none"),
        (#""email":"a@example.com","disabled":"yes""#, "has a member disabled that is neither true nor false"),
        (#""email":"a@example.com","profile":[]"#, "has a profile that is no object"),
        (#""email":"a@example.com","profile":{"nickname":"A"}"#, "has a profile with an unknown field"),
        (
            #""email":"a@example.com","profile":{"displayName":1}"#,
            "has a profile whose displayName is no text of at most 100 characters"
        ),
        (#""email":"a@example.com","profile":{"custom":1}"#, "has a profile whose custom is no object, or too large"),
        (#""email":"a@example.com","email":"b@example.com""#, "is no JSON object"),
    ]) func `what is wrong is said, and nothing of what it is`(members: String, reason: String) {
        #expect(throws: ImportLine.Fault(reason)) { try line(members) }
    }

    @Test(arguments: ["", "null", #""secret""#, #""$1$md5""#]) func `a hash in an unknown form is refused`(hash: String) {
        let text = hash.isEmpty ? #"{"email":"a@example.com"}"# : #"{"email":"a@example.com","passwordHash":\#(hash)}"#
        #expect(throws: ImportLine.Fault("has no passwordHash that can be read")) { try ImportLine(Array(text.utf8)) }
    }
}
