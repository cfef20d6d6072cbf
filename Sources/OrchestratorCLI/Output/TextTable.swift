/// A table for people: aligned by what a terminal shows, without trailing spaces.
struct TextTable {
    /// One field, and how it is coloured.
    struct Cell: Hashable, Sendable {
        var text: String
        var color: Style.Color?

        /// A cell; control characters of `text` are made visible.
        init(_ text: String, _ color: Style.Color? = nil) {
            self.text = safeForTerminal(text)
            self.color = color
        }
    }

    private let headings: [String]
    private var rows: [[Cell]] = []

    /// A table without rows.
    init(_ headings: [String]) { self.headings = headings }

    /// Adds a row with as many cells as there are headings.
    mutating func add(_ cells: [Cell]) { rows.append(cells) }

    /// The table, line by line. The last column is never padded. A column without content is left
    /// out.
    func text(_ style: Style) -> String {
        let all = [headings.map { Cell($0, .faint) }] + rows
        let used = headings.indices.filter { column in
            rows.isEmpty || rows.contains { $0.count > column && !$0[column].text.isEmpty }
        }
        let widths = headings.indices.map { column in
            all.map { $0.count > column ? displayWidth($0[column].text) : 0 }.max() ?? 0
        }
        return all.map { row in line(row, used, widths, style) }.joined(separator: "\n")
    }

    private func line(_ row: [Cell], _ used: [Int], _ widths: [Int], _ style: Style) -> String {
        var line = ""
        var gap = 0
        for column in used where row.count > column && !row[column].text.isEmpty {
            let before = used.filter { $0 < column }
            let target = before.reduce(0) { $0 + widths[$1] + 2 }
            line += String(repeating: " ", count: max(0, target - gap))
            let cell = row[column]
            line += cell.color.map { style.paint(cell.text, $0) } ?? cell.text
            gap = target + displayWidth(cell.text)
        }
        return line
    }
}
