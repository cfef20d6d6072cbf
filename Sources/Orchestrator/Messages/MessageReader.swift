import CLifecycle

/// Turns the lines of one service into messages. Knows the form and the meaning of lines; who may
/// send them is `NotifySocket`'s to know.
///
/// Values (`VALUE_name=text`) may come before READY or with it, in one message or many: they are
/// kept, and every READY hands over all of them.
struct MessageReader {
    /// The most values of one service.
    static let valuesMax = 64
    /// The longest text of a value, in bytes.
    static let valueTextMax = 4096

    /// What a line came to.
    enum Finding: Hashable {
        /// It says this.
        case message(ServiceMessage)
        /// It changes nothing, for this reason.
        case refusal(String)
    }

    /// Whether a process belongs to the service; asked for MAINPID only.
    private let isMember: (Int32) -> Bool
    private var values: [String: String] = [:]

    init(isMember: @escaping (Int32) -> Bool) { self.isMember = isMember }

    /// Reads one message, of any bytes. At most 257 findings.
    mutating func read(_ bytes: UnsafeRawBufferPointer) -> [Finding] {
        // SAFETY: the caller keeps the bytes until this returns.
        let lines = unsafe MessageLine.all(of: bytes)
        var findings: [Finding] = []
        // Values first: they belong to the READY of their message wherever in it they stand.
        for line in lines where line.kind == CLC_VALUE {
            if let reason = keep(line) { findings.append(.refusal(reason)) }
        }
        var saidReady = false
        for line in lines {
            if line.kind == CLC_READY {
                if saidReady { continue }
                saidReady = true
            }
            if let finding = meaning(of: line) { findings.append(finding) }
        }
        return findings
    }

    private mutating func keep(_ line: MessageLine) -> String? {
        guard line.text.utf8.count <= Self.valueTextMax else {
            return "VALUE_\(line.name): \(line.text.utf8.count) bytes, the limit is 4096"
        }
        guard values[line.name] != nil || values.count < Self.valuesMax else {
            return "VALUE_\(line.name): more than \(Self.valuesMax) values"
        }
        values[line.name] = line.text
        return nil
    }

    private func meaning(of line: MessageLine) -> Finding? {
        switch line.kind {
        case CLC_READY: .message(.ready(values: values))
        case CLC_STATUS: .message(.status(statusText(line.text)))
        case CLC_STOPPING: .message(.stopping)
        case CLC_RELOADING: .message(.reloading)
        case CLC_MAINPID: mainProcess(line.number)
        case CLC_WATCHDOG_PING: .message(.watchdogPing)
        case CLC_WATCHDOG_TRIGGER: .message(.watchdogTrigger)
        case CLC_WATCHDOG_USEC: .message(.watchdogInterval(interval(line.number)))
        case CLC_EXTEND_TIMEOUT_USEC:
            .message(.extendTimeout(Duration(messageMicroseconds: line.number)))
        case CLC_ERRNO: .message(.errno(Int32(clamping: line.number)))
        case CLC_HELLO: .message(.hello)
        case CLC_FDSTORE: .refusal("FDSTORE=1: descriptors are not kept; this one was closed")
        case CLC_STOP, CLC_RELOAD: .refusal("\(line.name)=1: only the orchestrator says that")
        case CLC_MALFORMED:
            .refusal(line.name.isEmpty ? line.text : "\(line.name): \(line.text)")
        // A barrier is answered by the closing of its descriptor, the values are kept, and the
        // remaining keys mean nothing in this direction.
        default: nil
        }
    }

    /// The longest line for people, in bytes; the rest is cut between characters, as our client
    /// does.
    static let statusMax = 4096

    private func statusText(_ text: String) -> String {
        guard text.utf8.count > Self.statusMax else { return withoutControlCharacters(text) }
        var end = text.utf8.index(text.startIndex, offsetBy: Self.statusMax)
        while end.samePosition(in: text.unicodeScalars) == nil {
            end = text.utf8.index(before: end)
        }
        return withoutControlCharacters(String(text[..<end]))
    }

    /// Zero and the largest number switch the watchdog off, as they do elsewhere.
    private func interval(_ number: UInt64) -> Duration? {
        number == 0 || number == .max ? nil : Duration(messageMicroseconds: number)
    }

    /// The process named here is the one we signal later, so a wrong one is never taken over.
    private func mainProcess(_ number: UInt64) -> Finding {
        let pid = Int32(clamping: number)
        guard pid > 1, isMember(pid), !clc_has_ended(pid) else {
            return .refusal("MAINPID=\(number): not a living process of this service")
        }
        return .message(.mainPID(pid))
    }
}

/// A line as the C parser understood it.
private struct MessageLine {
    let kind: clc_kind
    let number: UInt64
    let text: String
    let name: String

    init(_ item: clc_item) {
        // SAFETY: the item is that of a callback under way, and its texts are copied.
        kind = unsafe item.kind
        number = unsafe item.number
        text = unsafe Self.text(item.text, item.text_length)
        name = unsafe Self.text(item.name, item.name_length)
    }

    private static func text(_ start: UnsafePointer<CChar>?, _ length: Int) -> String {
        // SAFETY: the text lies in the message being read, has this length, and is copied.
        guard let start = unsafe start else { return "" }
        return unsafe String(
            decoding: UnsafeRawBufferPointer(start: start, count: length), as: UTF8.self)
    }

    static func all(of bytes: UnsafeRawBufferPointer) -> [MessageLine] {
        var lines: [MessageLine] = []
        // SAFETY: `clc_parse` calls back before it returns, so the array outlives every use of its
        // pointer.
        unsafe withUnsafeMutablePointer(to: &lines) { lines in
            unsafe clc_parse(
                bytes.baseAddress, bytes.count,
                { context, item in
                    let lines = unsafe context?.assumingMemoryBound(to: [MessageLine].self)
                    unsafe lines?.pointee.append(MessageLine(item.pointee))
                }, lines)
        }
        return lines
    }
}

/// The text with a space for each control character, so that showing it cannot drive a terminal.
func withoutControlCharacters(_ text: String) -> String {
    var clean = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
        let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
        clean.append(isControl ? " " : scalar)
    }
    return String(clean)
}
