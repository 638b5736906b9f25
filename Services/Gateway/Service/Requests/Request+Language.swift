import EventSchema
import HTTP

extension Request {
    /// The language that the client likes best (RFC 9110, section 12.5.4), reduced to language, script and region: what else
    /// a tag may hold could say who somebody is, and would stand in the log.
    var preferredLanguage: LanguageTag? {
        var best: (tag: LanguageTag, quality: Double)?
        for line in headers.values("Accept-Language") {
            for item in line.split(separator: ",").prefix(16) {
                let parts = item.split(separator: ";").map { String($0).trimmingSpaces }
                guard let first = parts.first, let tag = Self.plainTag(first) else { continue }
                let quality = parts.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
                guard quality > 0, quality <= 1, quality > (best?.quality ?? 0) else { continue }
                best = (tag, quality)
            }
        }
        return best?.tag
    }

    private static func plainTag(_ text: Substring) -> LanguageTag? {
        guard let tag = LanguageTag(String(text)) else { return nil }
        var subtags = tag.text.split(separator: "-")[...]
        guard let language = subtags.popFirst(), language.count <= 3 else { return nil }
        var plain = String(language)
        if let script = subtags.first, script.count == 4, script.allSatisfy(\.isLetter) { plain += "-\(subtags.removeFirst())" }
        if let region = subtags.first, region.count == 2, region.allSatisfy(\.isLetter) { plain += "-\(region)" }
        return LanguageTag(plain)
    }
}
