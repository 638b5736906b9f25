/// Values without the spaces and line ends around them, which come with files and shells.
enum Trimmed {
    static func spaces(_ text: some StringProtocol) -> String {
        guard let first = text.firstIndex(where: { !isSpace($0) }), let last = text.lastIndex(where: { !isSpace($0) }) else {
            return ""
        }
        return String(text[first...last])
    }

    private static func isSpace(_ character: Character) -> Bool { " \t\n\r\r\n".contains(character) }
}
