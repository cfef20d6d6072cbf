import Foundation
import Stoic

// Measures what the library's operations allocate and how long they take, beside something bare.
// Usage: library-bench check|counts|record FILE [NAME]
// `counts` looks at no time, and is quicker. NAME is how the operations begin that are measured;
// nothing is recorded then.
// Exit 1 if something allocates more than FILE says, or misses its target.

let arguments = CommandLine.arguments
/// How much more a service may cost among a thousand than among ten.
let mostGrowth = 1.3
let isWhole = arguments.count == 3
guard isWhole || arguments.count == 4, ["check", "counts", "record"].contains(arguments[1]) else {
    FileHandle.standardError.write(
        Data("usage: library-bench check|counts|record FILE [NAME]\n".utf8))
    exit(64)
}
let verb = arguments[1]
let batches = verb == "counts" ? 3 : 15
let recorded = verb == "record" ? nil : try Record.load(arguments[2])

func column(_ value: Double, _ places: Int) -> String {
    let text = String(format: "%.\(places)f", value)
    return String(repeating: " ", count: max(0, 10 - text.count)) + text
}

/// Sinks that print would be measured too.
let missed = try await withAmbient {
    $0.instrumentation = SilentInstrumentation()
} operation: {
    print("allocations  nanoseconds       bare      ratio")
    var lines: [Record.Line] = []
    var missed: [String] = []
    var costs: [Double] = []
    let prefix = isWhole ? "" : arguments[3]
    for operation in Operation.all(batches: batches) where operation.name.hasPrefix(prefix) {
        let (figure, bare) = try await operation.figures(batches: batches)
        let ratio = figure.nanoseconds / bare
        print(
            "\(column(figure.allocations, 1))  \(column(figure.nanoseconds, 0))",
            "\(column(bare, 0)) \(column(ratio, 2)) \(operation.bare)  \(operation.name)")
        lines.append(
            Record.Line(
                name: operation.name,
                allocations: figure.allocations == 0 ? 0 : figure.mostAllocations,
                ratio: (ratio * 100).rounded() / 100, bare: operation.bare.rawValue))
        if let most = operation.target?.allocations, figure.allocations > most {
            missed.append("\(operation.name): \(figure.allocations) allocations, target \(most)")
        }
        if verb != "counts", let most = operation.target?.nanoseconds, figure.nanoseconds > most {
            missed.append("\(operation.name): \(Int(figure.nanoseconds)) ns, target \(Int(most))")
        }
        if let services = operation.services { costs.append(figure.nanoseconds / Double(services)) }
        guard let recorded else { continue }
        guard let limit = recorded.limit(of: operation.name) else {
            missed.append("\(operation.name) is not in \(arguments[2]): record it")
            continue
        }
        if figure.allocations > limit {
            missed.append(
                "\(operation.name): \(figure.allocations) allocations, more than \(limit) before")
        }
    }
    if verb != "counts", let first = costs.first, let last = costs.last, last > first * mostGrowth {
        missed.append("a service of many costs \(last / first) times one of few")
    }
    if verb == "record", isWhole { try Record(lines: lines).save(arguments[2]) }
    return missed
}
for miss in missed { print("MISSED \(miss)") }
exit(missed.isEmpty ? 0 : 1)
