public import EventSchema

/// A message with places for what is different each time: `{{code}}` and `{{minutes}}` for how long it is valid, except in
/// notices, and for HTML `{{language}}` and `{{direction}}` (`ltr` or `rtl`).
///
/// Its files are text in UTF-8. An e-mail's begins with `Subject: …` and an empty line, and has one of HTML beside it.
public struct MessageTemplate: Equatable, Sendable {
    public enum Fault: Error, Equatable, CustomStringConvertible {
        case notUTF8
        case noSubject
        case noText
        /// The file's code is what it is for.
        case noCode
        /// There is no code to tell of.
        case needlessCode
        case unknownPlace(String)
        case openPlace

        public var description: String {
            switch self {
            case .notUTF8: "it is not UTF-8"
            case .noSubject: "it does not begin with 'Subject: …' and an empty line"
            case .noText: "it has no text"
            case .noCode: "it does not contain {{code}}"
            case .needlessCode: "it contains {{code}} or {{minutes}}, and there is no code"
            case .unknownPlace(let name): "it contains {{\(name)}}, which nothing stands for"
            case .openPlace: "it contains {{ without }}"
            }
        }
    }

    enum Place: String, CaseIterable, Sendable {
        case code, minutes, language, direction
    }

    private enum Part: Equatable, Sendable {
        case text(String)
        case place(Place)
    }

    /// A message that is filled in.
    public struct Content: Equatable, Sendable {
        public var subject: String?
        public var text: String
        public var html: String?
    }

    private let subject: [Part]?
    private let text: [Part]
    private var html: [Part]?
    private let hasCode: Bool

    /// - Parameter hasCode: a notice has none.
    public init(_ bytes: [UInt8], channel: Channel, hasCode: Bool = true) throws(Fault) {
        self.hasCode = hasCode
        var lines = try Self.lines(of: bytes)
        switch channel {
        case .email:
            let prefix = "Subject: "
            guard lines.count > 2, lines[0].hasPrefix(prefix), lines[0].utf8.count > prefix.utf8.count, lines[1].isEmpty else {
                throw .noSubject
            }
            subject = try Self.parts(of: lines[0].dropFirst(prefix.count))
            lines.removeFirst(2)
        case .sms:
            subject = nil
        }
        text = try Self.content(of: lines, hasCode: hasCode)
    }

    /// The same message for programs that show HTML.
    public mutating func setHTML(_ bytes: [UInt8]) throws(Fault) {
        html = try Self.content(of: Self.lines(of: bytes), hasCode: hasCode)
    }

    /// The minutes are rounded up, and at least one. Only a notice is without a code.
    public func render(code: String?, lifetime: Interval, in locale: LanguageTag) -> Content {
        let minutes = max((lifetime.milliseconds + 59_999) / 60_000, 1)
        func fill(_ parts: [Part], _ escape: (String) -> String = { $0 }) -> String {
            parts.map { part in
                switch part {
                case .text(let text): text
                case .place(.code): escape(code ?? "")
                case .place(.minutes): String(minutes)
                case .place(.language): escape(locale.text)
                case .place(.direction): WritingDirection(of: locale).rawValue
                }
            }.joined()
        }
        return Content(subject: subject.map { fill($0) }, text: fill(text), html: html.map { fill($0, Self.escaped) })
    }

    /// For the content and the quoted attributes of HTML.
    static func escaped(_ text: String) -> String {
        let entities: [Character: String] = ["&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;", "'": "&#39;"]
        return text.map { entities[$0] ?? String($0) }.joined()
    }

    // MARK: Reading

    private static func lines(of bytes: [UInt8]) throws(Fault) -> [Substring] {
        guard let content = String(validating: bytes, as: UTF8.self) else { throw .notUTF8 }
        return content.replacing("\r\n", with: "\n").split(separator: "\n", omittingEmptySubsequences: false)
    }

    private static func content(of lines: [Substring], hasCode: Bool) throws(Fault) -> [Part] {
        var lines = lines
        while lines.last?.isEmpty == true { lines.removeLast() }
        guard !lines.isEmpty else { throw .noText }
        let content = try parts(of: lines.joined(separator: "\n")[...])
        if hasCode, !content.contains(.place(.code)) { throw .noCode }
        if !hasCode, content.contains(.place(.code)) || content.contains(.place(.minutes)) { throw .needlessCode }
        return content
    }

    private static func parts(of text: Substring) throws(Fault) -> [Part] {
        var parts: [Part] = []
        var rest = text
        while let open = rest.firstRange(of: "{{") {
            guard let close = rest[open.upperBound...].firstRange(of: "}}") else { throw .openPlace }
            let name = String(rest[open.upperBound..<close.lowerBound])
            guard let place = Place(rawValue: name) else { throw .unknownPlace(name) }
            if open.lowerBound > rest.startIndex { parts.append(.text(String(rest[..<open.lowerBound]))) }
            parts.append(.place(place))
            rest = rest[close.upperBound...]
        }
        if !rest.isEmpty { parts.append(.text(String(rest))) }
        return parts
    }
}
