extension String {
    /// Without white space (Unicode's White_Space) at both ends; by scalars, so that a space under an accent is a space.
    var trimmed: String {
        var rest = self[...].unicodeScalars
        while let first = rest.first, first.properties.isWhitespace { rest.removeFirst() }
        while let last = rest.last, last.properties.isWhitespace { rest.removeLast() }
        return String(rest)
    }
}
