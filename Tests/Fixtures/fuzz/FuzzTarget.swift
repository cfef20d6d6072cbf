import Glibc

/// One reader of bytes that come from outside, and what must hold of it for any bytes.
///
/// A crash, a hang and a leak are found by whoever runs it; a broken promise it finds itself.
protocol FuzzTarget: Sendable, SendableMetatype {
    /// Its name on the command line, and the folder of its corpus.
    static var name: String { get }
    /// Made once for many inputs.
    init()
    /// Reads `bytes`, and checks what came out of them.
    func read(_ bytes: [UInt8])
}

/// Every target, and one that fails.
let fuzzTargets: [any FuzzTarget.Type] = [
    ConfigTarget.self, EnvironmentFileTarget.self, ValueTarget.self, MessageTarget.self,
    ClientTarget.self, RequestTarget.self, JSONTarget.self, LogTarget.self, RecordTarget.self,
    CanaryTarget.self,
]

/// Ends the program, as a trap would, with a reason that can be read.
func broken(_ promise: String) -> Never {
    say("broken promise: \(promise)")
    abort()
}

/// A line to standard error.
func say(_ line: String) { _ = unsafe write(2, line + "\n", line.utf8.count + 1) }

/// Ends the program unless `holds`.
func promise(_ holds: Bool, _ text: @autoclosure () -> String) {
    if !holds { broken(text()) }
}

/// Breaks its promise for one input in two hundred: who runs the targets must see that.
struct CanaryTarget: FuzzTarget {
    static let name = "canary"

    func read(_ bytes: [UInt8]) { promise(!bytes.contains(0xFF), "the canary is quiet") }
}
