public import EventSchema

/// The templates of all messages, by purpose and language: those that Latchkey brings, and those that a folder puts in their
/// place or adds.
///
/// A file is named `PURPOSE.LANGUAGE.txt`: `email_verification.en.txt`, `email_verification.pt-BR.txt`.
public struct MessageTemplates: Sendable {
    public struct Fault: Error, Equatable, CustomStringConvertible {
        public var file: String
        public var reason: String
        public var description: String { "\(file): \(reason)" }
    }

    /// Every purpose has a template in it.
    public static let defaultLanguage = LanguageTag("en")!

    private static let builtIn: [(name: String, contents: [UInt8])] = [
        ("email_verification.en.txt", PackageResources.email_verification_en_txt),
        ("email_verification.de.txt", PackageResources.email_verification_de_txt),
        ("password_reset.en.txt", PackageResources.password_reset_en_txt),
        ("password_reset.de.txt", PackageResources.password_reset_de_txt),
        ("phone_verification.en.txt", PackageResources.phone_verification_en_txt),
        ("phone_verification.de.txt", PackageResources.phone_verification_de_txt),
    ]

    private var templates: [Purpose: [LanguageTag: MessageTemplate]] = [:]

    /// - Parameter own: files of the operator's, which stand in the place of those of the same name.
    public init(own: [(name: String, contents: [UInt8])] = []) throws(Fault) {
        for (name, contents) in Self.builtIn + own { try add(name, contents) }
        for purpose in Purpose.allCases where templates[purpose]?[Self.defaultLanguage] == nil {
            throw Fault(file: "\(purpose.rawValue).\(Self.defaultLanguage.text).txt", reason: "it is missing")
        }
    }

    private mutating func add(_ name: String, _ contents: [UInt8]) throws(Fault) {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, parts[2] == "txt", let purpose = Purpose(rawValue: parts[0]), let locale = LanguageTag(parts[1])
        else {
            throw Fault(file: name, reason: "the name is not PURPOSE.LANGUAGE.txt")
        }
        do throws(MessageTemplate.Fault) {
            templates[purpose, default: [:]][locale] = try MessageTemplate(contents, channel: purpose.channel)
        } catch {
            throw Fault(file: name, reason: error.description)
        }
    }

    /// The template for a language, for the same language elsewhere, or in the default language.
    public func template(for purpose: Purpose, _ locale: LanguageTag?) -> (locale: LanguageTag, template: MessageTemplate) {
        let known = templates[purpose] ?? [:]
        for candidate in [locale, locale.flatMap { LanguageTag($0.language) }, Self.defaultLanguage] {
            if let candidate, let template = known[candidate] { return (candidate, template) }
        }
        preconditionFailure("\(purpose.rawValue) has a template in the default language")
    }
}
