import Foundation

/// What was measured once, as `docs/benchmarks-library.json` holds it.
struct Record: Codable {
    struct Line: Codable {
        let name: String
        let allocations: Double
        /// To the bare thing.
        let ratio: Double
        let bare: String
    }

    var lines: [Line]

    static func load(_ path: String) throws -> Record {
        try JSONDecoder().decode(Record.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
    }

    func save(_ path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try (encoder.encode(self) + Data("\n".utf8)).write(to: URL(fileURLWithPath: path))
    }

    /// The most `name` may allocate: what was recorded, and where that is anything one more, or a
    /// twentieth. Where tasks run beside each other, the order in which they do has a share in it.
    func limit(of name: String) -> Double? {
        lines.first { $0.name == name }.map { line in
            guard line.allocations > 0 else { return 0 }
            return max(line.allocations + 1, (line.allocations * 1.05).rounded(.up))
        }
    }
}
