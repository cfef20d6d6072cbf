import Glibc

/// One line on standard output, at once.
func say(_ line: String) { write(line, to: 1) }

/// One message on standard error.
func complain(_ line: String) { write(line, to: 2) }

private func write(_ line: String, to descriptor: Int32) {
    let bytes = Array((line + "\n").utf8)
    _ = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
}
