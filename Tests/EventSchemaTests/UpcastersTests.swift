import Crypto
import JSON
import Testing

@testable import EventSchema

/// With versions that never were: once upon a time a missed code named its address kind, then its purpose in another word.
struct UpcastersTests {
    private static let base = "latchkey.verification.code-missed"

    private static func name(_ version: Int) throws -> TypeName { try #require(TypeName("\(base).v\(version)")) }

    private static func codec() throws -> SchemaCodec {
        SchemaCodec(
            upcasters: try Upcasters(
                [
                    Upcasters.Step(from: try name(1)) { object throws(SchemaError) in
                        var object = object
                        guard case .string(let kind)? = object["kind"] else {
                            throw .malformed(type: "\(base).v1", field: "kind")
                        }
                        object["kind"] = nil
                        object["reason"] = .string(kind == "mail" ? "verify-email" : "verify-phone")
                        return object
                    },
                    Upcasters.Step(from: try name(2)) { object throws(SchemaError) in
                        var object = object
                        object["purpose"] = object["reason"] == "verify-email" ? "email_verification" : "phone_verification"
                        object["reason"] = nil
                        return object
                    },
                ], types: ["\(base).v3": .codeMissed]))
    }

    private static func subject() throws -> Subject { try #require(Subject(bytes: Array(repeating: 9, count: 16))) }

    @Test func `the oldest version goes through every step`() throws {
        let subject = try Self.subject()
        let data = Array(#"{"subject":"\#(subject.base64url)","kind":"mail","device":null}"#.utf8)
        let missed = try Self.codec().decode(CodeMissed.self, type: "\(Self.base).v1", data: data)
        #expect(missed == CodeMissed(subject: subject, purpose: .emailVerification))
    }

    @Test func `a version in between goes through the rest`() throws {
        let subject = try Self.subject()
        let data = Array(#"{"subject":"\#(subject.base64url)","reason":"verify-phone"}"#.utf8)
        let missed = try Self.codec().decode(VerificationEvent.self, type: "\(Self.base).v2", data: data)
        #expect(missed == .codeMissed(CodeMissed(subject: subject, purpose: .phoneVerification)))
    }

    @Test func `the current version goes through none`() throws {
        let missed = CodeMissed(subject: try Self.subject(), purpose: .passwordReset)
        #expect(try Self.codec().decode(CodeMissed.self, type: "\(Self.base).v3", data: missed.json.serialized()) == missed)
    }

    @Test(arguments: [
        "\(base).v4", "\(base).v0", base, "", "latchkey.verification.code-mist.v1", "LATCHKEY.VERIFICATION.CODE-MISSED.V3",
    ])
    func `an unknown type is refused, whatever its data`(type: String) throws {
        for data in ["{}", "[]", "nonsense", ""] {
            #expect(throws: SchemaError.unknownType(type)) {
                try Self.codec().decode(CodeMissed.self, type: type, data: Array(data.utf8))
            }
        }
    }

    @Test func `what an old version should not hold is refused by the step that knows it`() throws {
        #expect(throws: SchemaError.malformed(type: "\(Self.base).v1", field: "kind")) {
            try Self.codec().decode(CodeMissed.self, type: "\(Self.base).v1", data: Array(#"{"subject":"x"}"#.utf8))
        }
    }

    @Test func `a chain that cannot work is not made`() throws {
        let (one, two, three) = (try Self.name(1), try Self.name(2), try Self.name(3))
        func step(_ from: TypeName) -> Upcasters.Step { Upcasters.Step(from: from) { object in object } }
        let types = [three.description: MessageType.codeMissed]
        #expect(throws: Upcasters.Fault.deadEnd(one)) { try Upcasters([step(one)], types: types) }
        #expect(throws: Upcasters.Fault.ambiguous(two)) { try Upcasters([step(two), step(two)], types: types) }
        #expect(throws: Upcasters.Fault.fromCurrent(three)) { try Upcasters([step(three)], types: types) }
        #expect(throws: Never.self) { try Upcasters([step(two), step(one)], types: types) }
    }

    @Test func `the chain of this release knows every type that it writes`() throws {
        for type in MessageType.allCases { #expect(try Upcasters.current.current(of: type.name) == type) }
    }
}
