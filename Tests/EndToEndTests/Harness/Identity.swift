import Glibc
import Testing

/// Who runs the programs of a case. Root can forge the sender of a message, so the cases run as an
/// ordinary user even when the tests do not.
struct Identity: Sendable {
    /// `nil`: as the tests.
    let user: Int64?
    let group: Int64?
    /// Where the programs lie that this user can run.
    let programs: String

    var orchestrator: String { programs + "/orchestrator" }
    var puppet: String { programs + "/puppet" }

    /// The user the cases run as: `nobody` under root, else ours.
    static let ordinary: Identity = {
        guard geteuid() == 0, isRuntimeOpen else { return ours }
        let user: Int64 = 65_534
        do {
            let owner = Identity(user: user, group: user, programs: "")
            let folder = try Scratch.make(owner: owner, prefix: "oe-bin-")
            for name in ["orchestrator", "puppet", "faults"] {
                try copyProgram(built + "/" + name, to: folder + "/" + name)
            }
            atexit {
                let copies = Identity.ordinary.programs
                if copies.hasPrefix("/tmp/oe-bin-") { Scratch.remove(copies) }
            }
            return Identity(user: user, group: user, programs: folder)
        } catch {
            Issue.record(error, "the cases run as root")
            return ours
        }
    }()

    /// Whoever runs the tests.
    static let ours = Identity(user: nil, group: nil, programs: built)

    /// The directory of the build: that of the test bundle, whichever way it was built.
    private static let built: String = {
        let program = TextFile.link("/proc/self/exe") ?? ""
        return program.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 }
    }()

    /// Whether another user can reach the Swift runtime the programs are linked to.
    private static var isRuntimeOpen: Bool {
        let maps = TextFile.read("/proc/self/maps") ?? ""
        let libraries = maps.split(separator: "\n").compactMap { line -> Substring? in
            guard line.hasSuffix("/libswiftCore.so"), let start = line.firstIndex(of: "/")
            else { return nil }
            return line[start...]
        }
        guard let library = libraries.first else { return true }
        var path = ""
        for part in library.split(separator: "/").dropLast() {
            path += "/" + part
            var status = stat()
            guard unsafe stat(path, &status) == 0, status.st_mode & S_IXOTH != 0
            else { return false }
        }
        return true
    }

    private static func copyProgram(_ from: String, to path: String) throws {
        guard let bytes = TextFile.bytes(from) else {
            throw BenchError("cannot read \(from): build it with `swift build --build-tests`")
        }
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o755)
        guard file >= 0 else { throw BenchError("cannot write \(path): error \(errno)") }
        defer { close(file) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes {
                unsafe write(file, $0.baseAddress, $0.count)
            }
            guard count > 0 else { throw BenchError("cannot write \(path): error \(errno)") }
            rest = rest.dropFirst(count)
        }
    }
}
