import Runtime
import Testing

@Suite struct MaskTests {
    @Test(arguments: [
        ("user@example.com", "u***@***.com"),
        ("@example.com", "***@***.com"),
        ("user@localhost", "u***@***"),
        ("\"a@b\"@example.org", "\"***@***.org"),
        ("+12025550148", "***48"),
        ("(202) 555-0148", "***48"),
        ("192.0.2.17", "192.0.***"),
        ("2001:db8::1", "2001:***"),
        ("::1", ":***"),
        ("Jane Doe", "J***"),
        ("abc", "***"),
        ("12", "***"),
        ("", "***"),
    ])
    func `an outline shows too little to learn the rest`(text: String, outline: String) {
        #expect(Mask.outline(of: text) == outline)
    }
}
