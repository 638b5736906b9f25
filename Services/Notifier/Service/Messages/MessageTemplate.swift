public import EventSchema

/// A message with places for what is different each time: `{{code}}`, and `{{minutes}}` for how long the code is valid.
///
/// Its file is text in UTF-8. An e-mail's begins with `Subject: …` and an empty line.
public struct MessageTemplate: Equatable, Sendable {
    public enum Fault: Error, Equatable, CustomStringConvertible {
        case notUTF8
        case noSubject
        case noText
        /// The file's code is what it is for.
        case noCode
        case unknownPlace(String)
        case openPlace

        public var description: String {
            switch self {
            case .notUTF8: "it is not UTF-8"
            case .noSubject: "it does not begin with 'Subject: …' and an empty line"
            case .noText: "it has no text"
            case .noCode: "it does not contain {{code}}"
            case .unknownPlace(let name): "it contains {{\(name)}}, which nothing stands for"
            case .openPlace: "it contains {{ without }}"
            }
        }
    }

    enum Place: String, CaseIterable, Sendable {
        case code, minutes
    }

    private enum Part: Equatable, Sendable {
        case text(String)
        case place(Place)
    }

    private let subject: [Part]?
    private let text: [Part]

    public init(_ bytes: [UInt8], channel: Channel) throws(Fault) {
        guard let content = String(validating: bytes, as: UTF8.self) else { throw .notUTF8 }
        var lines = content.split(separator: "\n", omittingEmptySubsequences: false)
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
        while lines.last?.isEmpty == true { lines.removeLast() }
        guard !lines.isEmpty else { throw .noText }
        text = try Self.parts(of: lines.joined(separator: "\n")[...])
        guard text.contains(.place(.code)) else { throw .noCode }
    }

    /// The minutes are rounded up, and at least one.
    public func render(code: String, lifetime: Interval) -> (subject: String?, text: String) {
        let minutes = max((lifetime.milliseconds + 59_999) / 60_000, 1)
        func fill(_ parts: [Part]) -> String {
            parts.map { part in
                switch part {
                case .text(let text): text
                case .place(.code): code
                case .place(.minutes): String(minutes)
                }
            }.joined()
        }
        return (subject.map(fill), fill(text))
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
