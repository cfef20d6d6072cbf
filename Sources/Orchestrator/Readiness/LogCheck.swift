import Glibc

/// A line of output that matches a POSIX extended regular expression. Looks at the first 16 KiB of
/// each line; a line counts once it ended, so that `$` means what it says.
@safe final class LogCheck: ReadinessCheck {
    /// The bytes of a line that are looked at.
    static let lineMax = 16 << 10

    @safe private enum State {
        case matching(UnsafeMutablePointer<regex_t>)
        case over
    }

    private(set) var missing: String
    private let onMet: () -> Void
    private var state = State.over
    private var line: [UInt8] = []

    init(_ pattern: String, _ onMet: @escaping () -> Void) {
        self.onMet = onMet
        missing = "no line of output matches \(pattern) yet"
        compile(pattern)
    }

    deinit { close() }

    func begin() {}

    func noteOutput(_ bytes: UnsafeRawBufferPointer) {
        for index in bytes.indices {
            guard case .matching = state else { return }
            // SAFETY: the index is one of the bytes, which the caller keeps until this returns.
            let byte = unsafe bytes[index]
            if byte == UInt8(ascii: "\n") {
                endLine()
            } else if line.count < Self.lineMax {
                line.append(byte)
            }
        }
    }

    func note(_ fact: ReadinessFact) {
        // The last line may lack its end.
        if fact == .drained && !line.isEmpty { endLine() }
    }

    func close() {
        guard case .matching(let regex) = state else { return }
        state = .over
        // SAFETY: the state lets this be reached once, and held the only pointer.
        unsafe regfree(regex)
        unsafe regex.deallocate()
        line = []
    }

    private func compile(_ pattern: String) {
        // SAFETY: the expression is ours: freed here where it cannot be compiled, else in
        // `close()`.
        let regex = UnsafeMutablePointer<regex_t>.allocate(capacity: 1)
        unsafe regex.initialize(to: regex_t())
        let failure = unsafe regcomp(regex, pattern, REG_EXTENDED | REG_NOSUB)
        guard failure == 0 else {
            unsafe regex.deallocate()
            missing = "\(pattern) is not a POSIX extended regular expression"
            return
        }
        unsafe state = .matching(regex)
    }

    private func endLine() {
        guard case .matching(let regex) = state else { return }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        // SAFETY: the state says that the expression is compiled; the line is read within its
        // bounds, in the closure.
        // The bounds come as numbers, so a NUL in the line is a byte like any other.
        var bounds = regmatch_t(rm_so: 0, rm_eo: regoff_t(line.count))
        line.append(0)
        let result = unsafe line.withUnsafeBufferPointer { buffer in
            unsafe buffer.withMemoryRebound(to: CChar.self) { text in
                unsafe regexec(regex, text.baseAddress, 1, &bounds, REG_STARTEND)
            }
        }
        line.removeAll(keepingCapacity: true)
        guard result == 0 else { return }
        close()
        onMet()
    }
}
