import EventSchema
import Testing

struct TypeNameTests {
    @Test func `is a base and a version`() throws {
        let name = try #require(TypeName("latchkey.verification.code-issued.v12"))
        #expect(name.base == "latchkey.verification.code-issued")
        #expect(name.version == 12)
        #expect("\(name)" == "latchkey.verification.code-issued.v12")
        #expect("\(name.next)" == "latchkey.verification.code-issued.v13")
    }

    @Test(arguments: [
        "", "v1", ".v1", "a", "a.v", "a.v0", "a.v01", "a.1", "a.V1", "a.v1.", "a..b.v1", "A.v1", "a.-b.v1", "a.b-.v1", "a.v-1",
        "a.v+1",
        "a.v1234567", "a b.v1", "a.v１", "1a.v1", "a.v1\u{0}",
    ])
    func `nothing else is a name`(text: String) {
        #expect(TypeName(text) == nil)
    }

    @Test func `every type has a name of that form, of its own`() {
        for type in MessageType.allCases { #expect(TypeName(type.name)?.description == type.name) }
        #expect(Set(MessageType.allCases.compactMap { TypeName($0.name)?.base }).count == MessageType.allCases.count)
    }
}
