import Foundation
import Testing

@testable import fuzz

/// The inputs of `Tests/Corpora`, and changes of them, in a process of its own for each target.
/// `scripts/fuzz` looks for new ones with an eye on the code that runs.
@Suite("Fuzz corpora", .timeLimit(.minutes(10)))
struct CorpusTests {
    /// The changed inputs of each target; FUZZ_CHANGES says otherwise.
    static var changes: Int {
        ProcessInfo.processInfo.environment["FUZZ_CHANGES"].flatMap { Int($0) } ?? 3_000
    }

    static func inputs(of target: String) throws -> [[UInt8]] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Corpora/\(target)")
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            .map { Entry.file(folder.appending(path: $0).path) }
    }

    @Test("what holds for any bytes holds", arguments: fuzzTargets.map { $0.name }.dropLast())
    func promises(name: String) async throws {
        #expect(try !Self.inputs(of: name).isEmpty)
        await #expect(processExitsWith: .success) { [name] in
            let target = try #require(chosen(name))
            Entry.replay(target, try Self.inputs(of: name), changes: Self.changes)
        }
    }

    @Test("a broken promise ends the process")
    func canary() async {
        await #expect(processExitsWith: .signal(SIGABRT)) {
            let target = try #require(chosen("canary"))
            Entry.replay(target, try Self.inputs(of: "canary"), changes: 1_000)
        }
    }
}
