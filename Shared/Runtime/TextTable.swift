/// A table for a terminal.
public enum TextTable {
    /// Columns as wide as their widest cell; each line ends without spaces.
    public static func text(_ titles: [String], _ rows: [[String]]) -> String {
        let rows = [titles] + rows
        let widths = titles.indices.map { column in rows.map { $0[column].unicodeScalars.count }.max() ?? 0 }
        return rows.map { row in
            let cells = zip(row, widths).map { cell, width in
                cell + String(repeating: " ", count: width - cell.unicodeScalars.count)
            }
            return String(cells.joined(separator: "  ").reversed().drop { $0 == " " }.reversed()) + "\n"
        }.joined()
    }
}
