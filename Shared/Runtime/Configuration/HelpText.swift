/// One entry for each variable: a line with name and default, and below it what it is for, wrapped.
enum HelpText {
    static let width = 96

    static func entry(_ declaration: Settings.Declaration) -> String {
        var text = "  \(declaration.name)"
        for alias in declaration.aliases { text += ", \(alias)" }
        text += " (\(note(declaration)))\n"
        var line = "     "
        for word in declaration.summary.split(separator: " ") {
            if line.count + 1 + word.count > width {
                text += line + "\n"
                line = "     "
            }
            line += " " + word
        }
        return text + line + "\n"
    }

    /// `required`, `optional` or `default: X`; `secret` before it where it applies.
    static func note(_ declaration: Settings.Declaration) -> String {
        let kind =
            if declaration.isRequired {
                "required"
            } else if let text = declaration.defaultText {
                "default: \(text.isEmpty ? "empty" : text)"
            } else {
                "optional"
            }
        return declaration.isSecret ? "secret, \(kind)" : kind
    }
}
