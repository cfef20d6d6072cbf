internal import Manifest

/// The value `text` stands for, or `nil` when it is not one of this kind.
func read(_ text: String, as kind: ValueKind) -> OptionValue? {
    switch kind {
    case .text: return .text(text)
    case .file, .service: return text.isEmpty ? nil : .text(text)
    case .duration: return readDuration(text).map(OptionValue.duration)
    case .moment: return Moment.nanoseconds(of: text, now: 0) == nil ? nil : .text(text)
    case .count: return isNumber(text) ? Int(text).map(OptionValue.count) : nil
    case .pid:
        guard isNumber(text), let number = Int32(text), number > 0 else { return nil }
        return .count(Int(number))
    case .signal: return signalNumber(text) == nil ? nil : .text(text)
    case .choice(let words): return words.contains(text) ? .text(text) : nil
    case .assignment: return isAssignment(text) ? .text(text) : nil
    case .incident(let form): return form.read(text).map { .incidents([$0]) }
    }
}

/// What a value of this kind looks like, to complete "expected …".
func expectation(_ kind: ValueKind) -> String {
    switch kind {
    case .text: "text"
    case .file: "the path of a file"
    case .service: "the name of a service"
    case .duration: "a duration with its unit, such as 10s, 1m30s or 250ms"
    case .moment: "an age (10m) or a time (2026-01-31T12:00:00Z)"
    case .count: "a whole number"
    case .pid: "a process id"
    case .signal: "a signal, such as HUP, SIGHUP or 1"
    case .choice(let words):
        words.count > 8
            ? "one of the verbs"
            : words.dropLast().joined(separator: ", ")
                + (words.count > 1 ? " or " : "") + (words.last ?? "")
    case .assignment: "KEY=VALUE, the key in capitals, or VALUE_name=text"
    case .incident(let form): form.expectation
    }
}

/// The number of `HUP`, `SIGHUP`, `hup`, `RTMIN+1` or `1`; `nil` for what is no signal.
func signalNumber(_ text: String) -> Int32? {
    do { return try parseSignal(text) } catch { return nil }
}

private func readDuration(_ text: String) -> Duration? {
    do { return try parseDuration(text) } catch { return nil }
}

private func isNumber(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
}

/// A message field: an upper-case name, `=`, and one line of text. A value is `VALUE_` and a name
/// in any case, as a config's `provides` has it.
private func isAssignment(_ text: String) -> Bool {
    guard let sign = text.utf8.firstIndex(of: UInt8(ascii: "=")), sign != text.startIndex else {
        return false
    }
    let key = text.utf8[..<sign]
    let takesLowerCase = key.starts(with: "VALUE_".utf8)
    return !text.utf8.contains(UInt8(ascii: "\n"))
        && key.allSatisfy {
            switch $0 {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "_"):
                true
            case UInt8(ascii: "a")...UInt8(ascii: "z"): takesLowerCase
            default: false
            }
        }
}
