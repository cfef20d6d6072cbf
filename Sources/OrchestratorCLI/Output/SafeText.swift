/// `text` without anything a terminal would obey: control characters become `\xNN` or `\u{NNNN}`,
/// directional overrides too. Names, reasons and status lines come from services and configs.
func safeForTerminal(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: mustBeEscaped) else { return text }
    var safe = ""
    for scalar in text.unicodeScalars {
        if !mustBeEscaped(scalar) {
            safe.unicodeScalars.append(scalar)
        } else if scalar == "\n" {
            safe += "\\n"
        } else if scalar == "\t" {
            safe += "\\t"
        } else if scalar.value < 0x100 {
            let hex = String(scalar.value, radix: 16)
            safe += "\\x" + (hex.count < 2 ? "0" : "") + hex
        } else {
            safe += "\\u{" + String(scalar.value, radix: 16) + "}"
        }
    }
    return safe
}

private func mustBeEscaped(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: scalar != "\u{200D}"
    default: false
    }
}

/// The columns `text` takes on a terminal: wide characters count twice, joined marks nothing.
func displayWidth(_ text: String) -> Int {
    text.reduce(0) { width, character in
        guard let first = character.unicodeScalars.first else { return width }
        return width + (isWide(first) || character.unicodeScalars.contains("\u{FE0F}") ? 2 : 1)
    }
}

private func isWide(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF,
        0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F,
        0x1F680...0x1F6FF, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
        true
    default: false
    }
}

/// `text` filled up with spaces to `width` columns.
func padded(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - displayWidth(text)))
}
