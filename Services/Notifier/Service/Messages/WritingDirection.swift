internal import EventSchema

/// Which way a language is written, as HTML names it.
enum WritingDirection: String, Sendable {
    case leftToRight = "ltr"
    case rightToLeft = "rtl"

    /// ISO 15924.
    private static let scripts: Set<String> = ["Adlm", "Arab", "Aran", "Hebr", "Mand", "Nkoo", "Rohg", "Samr", "Syrc", "Thaa"]
    /// Written in one of these unless their tag names another.
    private static let languages: Set<String> = [
        "ar", "arc", "ckb", "dv", "fa", "glk", "he", "iw", "ks", "lrc", "mzn", "nqo", "prs", "ps", "sd", "syr", "ug", "ur", "yi",
    ]

    init(of locale: LanguageTag) {
        let subtags = locale.text.split(separator: "-").map(String.init)
        let script = subtags.dropFirst().prefix { $0.utf8.count > 1 }.first {
            $0.utf8.count == 4 && $0.first?.isUppercase == true
        }
        let isRightToLeft = script.map(Self.scripts.contains) ?? Self.languages.contains(locale.language)
        self = isRightToLeft ? .rightToLeft : .leftToRight
    }
}
