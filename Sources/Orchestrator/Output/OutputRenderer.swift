public import Stoic

/// Draws lines of output for people: `12:00:00.000 web | text`.
///
/// Into a pipe or a file, text goes as it is. On a terminal it is neutralised, because it comes
/// from programs that never meant to draw on *our* screen, or meant to forge it: control characters
/// are shown (`^[`, `^M`, `<9B>`), so are the marks that reorder text; only colours and styles
/// (SGR, except concealed text) pass where we draw colours ourselves, and end with their line. A
/// carriage return before the newline is left out.
public struct OutputRenderer: Sendable {
    /// What is drawn, and on what.
    public struct Style: Hashable, Sendable {
        /// Whether the text is neutralised.
        public var isTerminal: Bool
        /// Whether names have colours, and text may have its own. Only ever on a terminal.
        public var hasColor: Bool
        /// Whether each line begins with its time of day.
        public var hasTime: Bool
        /// Whether each line names its service.
        public var hasName: Bool

        /// Names, no times; colours on a terminal unless told otherwise.
        public init(
            isTerminal: Bool, hasColor: Bool = true, hasTime: Bool = false, hasName: Bool = true
        ) {
            self.isTerminal = isTerminal
            self.hasColor = hasColor && isTerminal
            self.hasTime = hasTime
            self.hasName = hasName
        }
    }

    /// What is drawn, and on what.
    public let style: Style
    private let width: Int

    /// The widest column of names; longer names stick out.
    private static let widestName = 24
    /// Colours that can be read on light and dark grounds; red is for errors.
    private static let palette = ["36", "33", "32", "35", "34", "96", "93", "92", "95", "94"]

    /// - Parameter names: those that will occur, so that their column has one width.
    public init(_ style: Style, names: [ServiceName] = []) {
        self.style = style
        width = min(names.map(\.text.count).max() ?? 0, Self.widestName)
    }

    /// The line as bytes, its newline included.
    public func render(_ line: LogLine) -> [UInt8] {
        var drawn = ""
        if style.hasTime {
            let time =
                line.wall == 0
                ? "--:--:--.---" : WallTime(nanoseconds: line.wall).localTime
            drawn += time + " "
        }
        if style.hasName { drawn += prefix(of: line.service) }
        if line.isContinued { drawn += "…" }
        drawn += style.isTerminal ? Neutralizer.neutral(line.text, style.hasColor) : line.text
        if line.isCut { drawn += "… [cut]" }
        drawn += "\n"
        return Array(drawn.utf8)
    }

    /// `name | `, padded to the column, in the colour of the name.
    private func prefix(of name: ServiceName) -> String {
        let padding = String(repeating: " ", count: max(0, width - name.text.count))
        guard style.hasColor else { return "\(name)\(padding) | " }
        return "\u{1B}[\(Self.color(of: name))m\(name)\(padding) |\u{1B}[0m "
    }

    /// The same name has the same colour, in every run and whatever else runs.
    static func color(of name: ServiceName) -> String {
        // FNV-1a: Swift's own hashes differ from run to run.
        let hash = name.text.utf8.reduce(UInt64(0xCBF2_9CE4_8422_2325)) {
            ($0 ^ UInt64($1)) &* 0x100_0000_01B3
        }
        return palette[Int(hash % UInt64(palette.count))]
    }
}
