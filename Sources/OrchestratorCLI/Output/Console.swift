import Glibc
import Stoic

/// Where the program writes: answers to stdout, everything else to stderr.
struct Console {
    /// Whether answers and errors are JSON.
    let json: Bool
    /// Whether stdout is coloured.
    let colorsOutput: Bool
    /// Whether stderr is coloured.
    let colorsErrors: Bool

    /// Decides about colour by the option, then `NO_COLOR`, `TERM` and what the descriptor is.
    init(_ options: GlobalOptions, environment: [String: String]) {
        json = options.json
        let isPlain =
            environment["NO_COLOR"].map { !$0.isEmpty } ?? false || environment["TERM"] == "dumb"
        func colors(_ descriptor: CInt) -> Bool {
            switch options.color {
            case .always: true
            case .never: false
            case .auto: !isPlain && isatty(descriptor) == 1
            }
        }
        colorsOutput = colors(STDOUT_FILENO)
        colorsErrors = colors(STDERR_FILENO)
    }

    /// How answers are coloured.
    var style: Style { Style(isColored: colorsOutput) }

    /// How notes and errors are coloured.
    var errorStyle: Style { Style(isColored: colorsErrors) }

    /// Writes an answer and its newline to stdout.
    func answer(_ text: String) { writeAll(text + "\n", to: STDOUT_FILENO) }

    /// Writes text that ends itself to stdout.
    func answer(raw text: String) { writeAll(text, to: STDOUT_FILENO) }

    /// Writes bytes as they are to stdout.
    func answer(bytes: [UInt8]) { writeAll(bytes, to: STDOUT_FILENO) }

    /// Writes bytes as they are to stderr: what another process of ours said.
    func note(raw bytes: ArraySlice<UInt8>) { writeAll(Array(bytes), to: STDERR_FILENO) }

    /// Writes a line to stderr that is no error: progress, a warning.
    func note(_ text: String) { writeAll(text + "\n", to: STDERR_FILENO) }

    /// Reports a failure, once, and hands on its code.
    func fail(_ failure: Failure) -> ExitCode {
        note(json ? failure.json : failure.text(errorStyle))
        return failure.code
    }
}

/// Writes all of it, waiting for a slow reader. Where nobody reads any more (`… | head`) the
/// process ends, as it would by SIGPIPE; where the disk is full it says so and ends.
private func writeAll(_ text: String, to descriptor: CInt) {
    writeAll(Array(text.utf8), to: descriptor)
}

private func writeAll(_ bytes: [UInt8], to descriptor: CInt) {
    // SAFETY: the bytes are read within the closure, from a place inside of them to their end;
    // `poll` gets one entry.
    var start = 0
    while start < bytes.count {
        let count = unsafe bytes.withUnsafeBytes { buffer in
            unsafe write(
                descriptor, buffer.baseAddress.map { unsafe $0 + start }, buffer.count - start)
        }
        if count >= 0 {
            start += count
        } else if errno == EAGAIN {
            // Somebody made the terminal non-blocking; its reader decides how long this waits.
            var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            unsafe poll(&wait, 1, -1)
        } else if errno != EINTR {
            outputEnded(errno, descriptor)
        }
    }
}

private func outputEnded(_ error: CInt, _ descriptor: CInt) -> Never {
    if error != EPIPE, error != EBADF, descriptor == STDOUT_FILENO {
        writeAll(
            "error: cannot write the output: \(SystemError.meaning(of: error))\n", to: STDERR_FILENO
        )
    }
    exit(error == EPIPE ? 128 + SIGPIPE : ExitCode.defect.number)
}

/// Colour, or none.
struct Style: Hashable, Sendable {
    /// Whether there is any.
    var isColored: Bool

    /// The colours in use.
    enum Color: String, Sendable {
        case red = "31"
        case green = "32"
        case yellow = "33"
        case blue = "34"
        case magenta = "35"
        case cyan = "36"
        case bold = "1"
        case faint = "2"
    }

    /// No colour.
    static let plain = Style(isColored: false)

    /// `text` in a colour.
    func paint(_ text: String, _ color: Color) -> String {
        isColored && !text.isEmpty ? "\u{1B}[\(color.rawValue)m\(text)\u{1B}[0m" : text
    }
}
