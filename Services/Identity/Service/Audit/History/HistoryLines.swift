internal import Crypto
internal import EventLog
internal import EventSchema
internal import Glibc
internal import JSON

/// Writes events as lines of a format.
struct HistoryLines {
    let format: AuditArguments.Format
    /// Times are short and local, where people read them; otherwise exact and in UTC.
    let isForPeople: Bool

    private static let columns = [
        "time", "appended", "topic", "partition", "offset", "sequence", "type", "id", "user", "subject", "causation", "details",
        "person", "skipped",
    ]
    private static let widths = [9, 34, 36]

    /// What stands above the first line; `nil`: nothing.
    var heading: String? {
        switch format {
        case .jsonl: nil
        case .csv: Self.csv(Self.columns)
        case .table: row(isForPeople ? "TIME (\(Self.zone()))" : "TIME", ["AT", "EVENT", "ABOUT"], "DETAILS")
        }
    }

    func line(_ event: EventEnvelope, _ person: PersonalContent) -> String {
        let data = (try? JSON.parse(event.body.data)) ?? .null
        let names = EventNames(event)
        let user = names.users.count == 1 ? names.users.first?.text : nil
        let subject = names.subjects.count == 1 ? names.subjects.first?.base64url : nil
        switch format {
        case .table:
            let about = user ?? subject ?? event.body.subject ?? ""
            let topic = event.partition.topic.rawValue.prefix { $0 != "." }
            let skipped = event.skipped.map { ["SKIPPED: \($0)"] } ?? []
            let details = skipped + Self.details(data, besides: about) + Self.words(person)
            return row(
                isForPeople ? Self.local(event.time) : event.time.rfc3339,
                [
                    "\(event.partition.partition)@\(event.offset)",
                    TypeFilter.bare(event.body.type).hasPrefix(topic)
                        ? TypeFilter.bare(event.body.type) : "\(topic): \(TypeFilter.bare(event.body.type))", about,
                ], details.joined(separator: " "))
        case .csv:
            return Self.csv([
                event.time.rfc3339, event.appended.rfc3339, event.partition.topic.rawValue, "\(event.partition.partition)",
                "\(event.offset)", "\(event.sequence)", event.body.type, event.id.text, user ?? "", subject ?? "",
                event.causation?.text ?? "", Self.details(data, besides: nil).joined(separator: " "),
                Self.words(person).joined(separator: " "), event.skipped ?? "",
            ])
        case .jsonl:
            var object = JSONObject([
                ("time", .string(event.time.rfc3339)), ("appended", .string(event.appended.rfc3339)),
                ("topic", .string(event.partition.topic.rawValue)), ("partition", .integer(Int64(event.partition.partition))),
                ("offset", .integer(event.offset)), ("sequence", .integer(event.sequence)),
                ("type", .string(event.body.type)), ("id", .string(event.id.text)),
                ("user", user.map { .string($0) } ?? .null), ("subject", subject.map { .string($0) } ?? .null),
                ("causation", event.causation.map { .string($0.text) } ?? .null), ("data", data),
            ])
            if let reason = event.skipped { object["skipped"] = .string(reason) }
            if !person.isEmpty {
                var readable = person.members
                if let obstacle = person.obstacle { readable["unreadable"] = .string(obstacle) }
                object["person"] = .object(readable)
            }
            return String(decoding: JSON.object(object).serialized(), as: UTF8.self) + "\n"
        }
    }

    // MARK: Details

    /// Members that say nothing to people: boxes, ciphertexts, digests.
    private static let opaque: Set<String> = [
        "reply", "person", "successor", "recipient", "code", "identifier", "password", "passwordHash", "rehash", "profile",
        "client", "digest", "salt", "refresh", "device", "address", "droppedDevices", "dataKey", "createdAt",
    ]

    /// `name=value` for what an event says readably.
    private static func details(_ json: JSON, besides about: String?) -> [String] {
        guard let object = json.object else { return [] }
        var words: [String] = []
        for (name, value) in object where !opaque.contains(name) {
            switch value {
            case .string(let text) where text != about: words.append("\(name)=\(text)")
            case .integer(let number): words.append("\(name)=\(number)")
            case .number(let number): words.append("\(name)=\(number)")
            case .bool(let flag): if flag { words.append(name) }
            case .array(let items):
                let texts = items.compactMap(\.string)
                if !texts.isEmpty { words.append("\(name)=\(texts.joined(separator: ","))") }
            case .object(let members):
                // What several of them say needs the name of each.
                let isShared = object.contains { other, value in
                    other != name && value.object?.contains { member, _ in members[member] != nil } == true
                }
                words += details(value, besides: about).map { isShared ? "\(name).\($0)" : $0 }
            case .null, .string: break
            }
        }
        return words
    }

    private static func words(_ person: PersonalContent) -> [String] {
        let readable = person.members.map { name, value in
            "\(name)=\(value.string ?? String(decoding: value.serialized(), as: UTF8.self))"
        }
        return readable + (person.obstacle.map { ["unreadable: \($0)"] } ?? [])
    }

    // MARK: Forms

    private func row(_ time: String, _ cells: [String], _ details: String) -> String {
        var text = time + String(repeating: " ", count: max(0, (isForPeople ? 19 : 24) - time.count))
        for (cell, width) in zip(cells, Self.widths) {
            text += "  " + cell + String(repeating: " ", count: max(0, width - cell.count))
        }
        return Self.printable(text + (details.isEmpty ? "" : "  " + details)) + "\n"
    }

    /// Without what a terminal would take for a command, and without spaces at the end.
    static func printable(_ text: String) -> String {
        let scalars = text.unicodeScalars.map { scalar in
            scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format ? "\u{fffd}" : scalar
        }
        var line = String(String.UnicodeScalarView(scalars))
        while line.last == " " { line.removeLast() }
        return line
    }

    /// A line of RFC 4180. What a spreadsheet would take for a formula gets an apostrophe before it.
    static func csv(_ fields: [String]) -> String {
        fields.map { field in
            let isFormula = field.unicodeScalars.first.map { "=+-@\t\r\n".unicodeScalars.contains($0) } ?? false
            let field = isFormula ? "'" + field : field
            guard field.unicodeScalars.contains(where: { ",\"\r\n".unicodeScalars.contains($0) }) else { return field }
            return "\"" + field.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
        }.joined(separator: ",") + "\r\n"
    }

    private static func local(_ time: Timestamp) -> String { stamp(time, "%Y-%m-%d %H:%M:%S") }

    private static func zone() -> String { stamp(AuditOperations.now, "%Z") }

    private static func stamp(_ time: Timestamp, _ form: String) -> String {
        var seconds = time_t(time.milliseconds / 1_000)
        var parts = tm()
        localtime_r(&seconds, &parts)
        var buffer = [CChar](repeating: 0, count: 64)
        let count = strftime(&buffer, buffer.count, form, &parts)
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
