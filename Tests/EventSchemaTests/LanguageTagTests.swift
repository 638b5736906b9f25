import EventSchema
import Testing

struct LanguageTagTests {
    @Test(arguments: [
        ("de", "de"), ("DE-at", "de-AT"), ("zh-hans-cn", "zh-Hans-CN"), ("EN", "en"), ("es-419", "es-419"),
        ("de-1996", "de-1996"),
        ("sl-ROZAJ-biske", "sl-rozaj-biske"), ("en-US-u-CA-gregory", "en-US-u-ca-gregory"), ("en-x-TWAIN-us", "en-x-twain-us"),
    ])
    func `is spelled as usual`(entered: String, spelled: String) {
        #expect(LanguageTag(entered)?.text == spelled)
        #expect(LanguageTag(spelled)?.text == spelled)
    }

    @Test(arguments: [
        "", "e", "1e", "de-", "-de", "de--AT", "de_AT", "deutschland-AT", "../x", "de/AT", "de\u{0}", "dé", "en-x",
        "de-abcdefghi", "en-aaaaaaaa-aaaaaaaa-aaaaaaaa-aaaaaaaa",
    ])
    func `nothing else is a tag`(text: String) {
        #expect(LanguageTag(text) == nil)
    }

    @Test func `knows its language`() {
        #expect(LanguageTag("zh-Hant-TW")?.language == "zh")
        #expect(LanguageTag("fr")?.language == "fr")
    }
}
