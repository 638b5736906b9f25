public import EventSchema

/// The templates of all messages, by purpose and language: those that Latchkey brings, and those that a folder puts in their
/// place or adds.
///
/// A file is named `PURPOSE.LANGUAGE.txt`, or `.html` for the same message in HTML: `email_verification.en.txt`,
/// `email_verification.pt-BR.html`.
public struct MessageTemplates: Sendable {
    public typealias File = (name: String, contents: [UInt8])

    public struct Fault: Error, Equatable, CustomStringConvertible {
        public var file: String
        public var reason: String
        public var description: String { "\(file): \(reason)" }
    }

    /// Every purpose has a template in it.
    public static let defaultLanguage = LanguageTag("en")!

    private static let builtIn: [File] = [
        ("email_verification.en.txt", PackageResources.email_verification_en_txt),
        ("email_verification.en.html", PackageResources.email_verification_en_html),
        ("email_verification.de.txt", PackageResources.email_verification_de_txt),
        ("email_verification.de.html", PackageResources.email_verification_de_html),
        ("password_reset.en.txt", PackageResources.password_reset_en_txt),
        ("password_reset.en.html", PackageResources.password_reset_en_html),
        ("password_reset.de.txt", PackageResources.password_reset_de_txt),
        ("password_reset.de.html", PackageResources.password_reset_de_html),
        ("password_was_reset.en.txt", PackageResources.password_was_reset_en_txt),
        ("password_was_reset.en.html", PackageResources.password_was_reset_en_html),
        ("password_was_reset.de.txt", PackageResources.password_was_reset_de_txt),
        ("password_was_reset.de.html", PackageResources.password_was_reset_de_html),
        ("sign_up_attempted.en.txt", PackageResources.sign_up_attempted_en_txt),
        ("sign_up_attempted.en.html", PackageResources.sign_up_attempted_en_html),
        ("sign_up_attempted.de.txt", PackageResources.sign_up_attempted_de_txt),
        ("sign_up_attempted.de.html", PackageResources.sign_up_attempted_de_html),
        ("phone_verification.en.txt", PackageResources.phone_verification_en_txt),
        ("phone_verification.de.txt", PackageResources.phone_verification_de_txt),
    ]

    private enum Kind: String {
        case txt, html
    }

    private var templates: [Occasion: [LanguageTag: MessageTemplate]] = [:]

    /// - Parameter own: files of the operator's. One of text takes the place of the one of the same name, and of its HTML too:
    ///   both say the same.
    public init(own: [File] = []) throws(Fault) {
        try add(Self.builtIn)
        try add(own)
        for purpose in Occasion.allCases where templates[purpose]?[Self.defaultLanguage] == nil {
            throw Fault(file: "\(purpose.rawValue).\(Self.defaultLanguage.text).txt", reason: "it is missing")
        }
    }

    /// The texts first: each begins a template.
    private mutating func add(_ files: [File]) throws(Fault) {
        for kind in [Kind.txt, .html] {
            for file in files {
                let parts = file.name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
                guard parts.count == 3, let fileKind = Kind(rawValue: parts[2]), let purpose = Occasion(rawValue: parts[0]),
                    let locale = LanguageTag(parts[1])
                else { throw Fault(file: file.name, reason: "the name is not PURPOSE.LANGUAGE.txt or PURPOSE.LANGUAGE.html") }
                guard fileKind == kind else { continue }
                switch kind {
                case .txt: try addText(file, purpose, locale)
                case .html: try addHTML(file, purpose, locale)
                }
            }
        }
    }

    private mutating func addText(_ file: File, _ purpose: Occasion, _ locale: LanguageTag) throws(Fault) {
        do throws(MessageTemplate.Fault) {
            templates[purpose, default: [:]][locale] = try MessageTemplate(
                file.contents, channel: purpose.channel, hasCode: purpose.purpose != nil)
        } catch {
            throw Fault(file: file.name, reason: error.description)
        }
    }

    private mutating func addHTML(_ file: File, _ purpose: Occasion, _ locale: LanguageTag) throws(Fault) {
        guard purpose.channel == .email else { throw Fault(file: file.name, reason: "an SMS has no HTML") }
        guard var template = templates[purpose]?[locale] else {
            throw Fault(file: file.name, reason: "there is no text for it")
        }
        do throws(MessageTemplate.Fault) {
            try template.setHTML(file.contents)
        } catch {
            throw Fault(file: file.name, reason: error.description)
        }
        templates[purpose]?[locale] = template
    }

    /// The template for a language, for the nearest language that its tag is a special form of (RFC 4647, section 3.4), or in
    /// the default language.
    public func template(for purpose: Occasion, _ locale: LanguageTag?) -> (locale: LanguageTag, template: MessageTemplate) {
        let known = templates[purpose] ?? [:]
        var subtags = locale?.text.split(separator: "-") ?? []
        while !subtags.isEmpty {
            if let candidate = LanguageTag(subtags.joined(separator: "-")), let template = known[candidate] {
                return (candidate, template)
            }
            subtags.removeLast()
            // What a single letter introduces went with what followed it.
            if subtags.last?.utf8.count == 1 { subtags.removeLast() }
        }
        if let template = known[Self.defaultLanguage] { return (Self.defaultLanguage, template) }
        preconditionFailure("\(purpose.rawValue) has a template in the default language")
    }
}
