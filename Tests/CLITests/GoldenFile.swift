import Glibc
import Testing

/// A file with what the program is to say. With `UPDATE_GOLDEN=1` it is written, not compared.
struct GoldenFile {
    let path: String

    /// The file `name` beside the tests.
    init(_ name: String) { path = Self.directory + "/Golden/" + name }
    /// A file named from the project's own directory.
    init(project name: String) { path = Self.directory + "/../../" + name }

    private static let directory = #filePath.split(separator: "/").dropLast()
        .reduce("") { $0 + "/" + $1 }

    /// Compares `text` with the file; the first line that differs is named.
    func expect(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        if unsafe getenv("UPDATE_GOLDEN") != nil { return try write(text) }
        let wanted = try read().split(separator: "\n", omittingEmptySubsequences: false)
        let found = text.split(separator: "\n", omittingEmptySubsequences: false)
        for (index, pair) in zip(wanted, found).enumerated() where pair.0 != pair.1 {
            Issue.record(
                "\(path):\(index + 1)\n  expected: \(pair.0)\n  found:    \(pair.1)",
                sourceLocation: sourceLocation)
            return
        }
        #expect(wanted.count == found.count, "\(path)", sourceLocation: sourceLocation)
    }

    private func read() throws -> String {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        try #require(descriptor >= 0, "no \(path)")
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe Glibc.read(descriptor, &chunk, chunk.count)
            if count <= 0 { break }
            bytes += chunk[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func write(_ text: String) throws {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        try #require(descriptor >= 0, "cannot write \(path)")
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        let count = unsafe Glibc.write(descriptor, bytes, bytes.count)
        #expect(count == bytes.count)
    }
}
