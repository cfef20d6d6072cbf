/// Takes the power over a terminal out of somebody else's text.
public enum Neutralizer {
    /// `text` with its control characters shown instead of obeyed.
    /// - Parameter keepingStyle: colours and styles pass, and are reset at the end; else they go.
    public static func neutral(_ text: String, _ keepingStyle: Bool = false) -> String {
        var source = text[...].unicodeScalars
        if source.last == "\r" { source.removeLast() }
        if source.allSatisfy({ harmless($0) }) { return String(source) }
        var drawn = String.UnicodeScalarView()
        var isStyled = false
        while let scalar = source.popFirst() {
            if scalar == "\u{1B}", let parameters = styleParameters(at: source) {
                source.removeFirst(parameters.count + 2)
                guard keepingStyle, !conceals(parameters) else { continue }
                isStyled = true
                drawn.append(contentsOf: "\u{1B}[\(parameters)m".unicodeScalars)
            } else if harmless(scalar) {
                drawn.append(scalar)
            } else {
                drawn.append(contentsOf: shown(scalar).unicodeScalars)
            }
        }
        if isStyled { drawn.append(contentsOf: "\u{1B}[0m".unicodeScalars) }
        return String(drawn)
    }

    private static func harmless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09: true
        case 0..<0x20, 0x7F...0x9F: false
        // What reorders the text after it: the line would not read as it is.
        case 0x202A...0x202E, 0x2066...0x2069: false
        case 0x2028, 0x2029: false
        default: true
        }
    }

    private static func shown(_ scalar: Unicode.Scalar) -> String {
        switch scalar.value {
        case 0..<0x20: "^" + String(UnicodeScalar(UInt8(scalar.value) + 0x40))
        case 0x7F: "^?"
        default: "<" + String(scalar.value, radix: 16, uppercase: true) + ">"
        }
    }

    /// The parameters of `[` parameters `m`, which is what follows the escape of a style; `nil` for
    /// any other sequence, and for one of more than 32 characters.
    private static func styleParameters(at source: Substring.UnicodeScalarView) -> String? {
        guard source.first == "[" else { return nil }
        var parameters = ""
        for scalar in source.dropFirst().prefix(33) {
            if scalar == "m" { return parameters }
            guard ("0"..."9").contains(scalar) || scalar == ";" || scalar == ":" else { return nil }
            parameters.unicodeScalars.append(scalar)
        }
        return nil
    }

    private static func conceals(_ parameters: String) -> Bool {
        parameters.split(separator: ";").contains { Int($0) == 8 }
    }
}
