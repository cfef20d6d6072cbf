private let signalNames: [String: Int32] = [
    "HUP": 1, "INT": 2, "QUIT": 3, "ILL": 4, "TRAP": 5, "ABRT": 6, "BUS": 7, "FPE": 8, "KILL": 9,
    "USR1": 10, "SEGV": 11, "USR2": 12, "PIPE": 13, "ALRM": 14, "TERM": 15, "STKFLT": 16,
    "CHLD": 17, "CONT": 18, "STOP": 19, "TSTP": 20, "TTIN": 21, "TTOU": 22, "URG": 23, "XCPU": 24,
    "XFSZ": 25, "VTALRM": 26, "PROF": 27, "WINCH": 28, "IO": 29, "PWR": 30, "SYS": 31,
]

/// The first real-time signal a program may use: glibc keeps 32 and 33.
private let firstRealTime: Int32 = 34
private let lastSignal: Int32 = 64

/// Reads a signal: `INT`, `SIGINT`, `2`, `RTMIN+3`. Capitals do not matter.
/// - Returns: Its number on Linux (the same on every architecture we build for).
/// - Throws: `ValueError` for an unknown name and a number outside 1 to 64.
public func parseSignal(_ text: String) throws(ValueError) -> Int32 {
    if let number = Int32(text) {
        guard (1...lastSignal).contains(number), !(32..<firstRealTime).contains(number) else {
            throw ValueError("there is no signal \(number)", suggestion: "1 to 31 or 34 to 64")
        }
        return number
    }
    var name = text.uppercased()
    if name.hasPrefix("SIG") { name.removeFirst(3) }
    if let number = signalNames[name] { return number }
    if name == "RTMIN" { return firstRealTime }
    if name == "RTMAX" { return lastSignal }
    if name.hasPrefix("RTMIN+"), let offset = Int32(name.dropFirst(6)),
        (0...lastSignal - firstRealTime).contains(offset)
    {
        return firstRealTime + offset
    }
    var error = ValueError("there is no signal \(quoted(text))", suggestion: "write it like TERM")
    if let near = nearest(to: name, among: signalNames.keys.sorted()) {
        error.suggestion = "did you mean \(quoted(near))?"
    }
    throw error
}

/// The name of a signal without `SIG`: `TERM`, `RTMIN+3`, or its number when it has none.
public func signalName(_ number: Int32) -> String {
    if let name = signalNames.first(where: { $0.value == number })?.key { return name }
    guard (firstRealTime...lastSignal).contains(number) else { return "\(number)" }
    return number == firstRealTime ? "RTMIN" : "RTMIN+\(number - firstRealTime)"
}
