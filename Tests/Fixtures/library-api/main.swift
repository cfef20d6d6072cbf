import Foundation

// Compares the public interface of modules with what is recorded of it. Run by `scripts/api-check`.
// Usage: library-api check|record GRAPHS BASELINES CHANGELOG MODULE...

let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count > 4, ["check", "record"].contains(arguments[0]) else {
    FileHandle.standardError.write(
        Data("usage: library-api check|record GRAPHS BASELINES CHANGELOG MODULE...\n".utf8))
    exit(64)
}
do {
    let changelog = try String(contentsOfFile: arguments[3], encoding: .utf8)
    let review = try Review(
        graphs: arguments[1], baselines: arguments[2], changelog: changelog,
        modules: Array(arguments[4...]))
    exit(try arguments[0] == "record" ? review.record() : review.check())
} catch {
    FileHandle.standardError.write(Data("cannot compare the interface: \(error)\n".utf8))
    exit(70)
}
