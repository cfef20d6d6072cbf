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

    /// The most `name` may allocate in its best batch: what was recorded of the worst, and where
    /// that is anything one more. Where tasks run beside each other, what else the machine does has
    /// a share in it: there it is a seventh more.
    func limit(of name: String) -> Double? {
        lines.first { $0.name == name }.map { line in
            guard line.allocations > 0 else { return 0 }
            guard line.allocations > 10 else { return line.allocations + 1 }
            return (line.allocations * 8 / 7).rounded(.up)
        }
    }
}
