import StoicTesting
import Testing

@testable import Stoic

@Suite("Heap, model", .timeLimit(.minutes(5)))
struct HeapModelTests {
    enum Command: Sendable {
        case insert(Int)
        case popFirst
        /// Keeps those that are no multiple of it.
        case dropMultiples(Int)
    }

    @Test("a heap behaves like a sorted array")
    func sortedArray() throws {
        let check = ModelCheck<Command>(
            length: 100,
            command: { random in
                switch Int.random(in: 0..<12, using: &random) {
                case 0: .dropMultiples(.random(in: 2...5, using: &random))
                case 1...4: .popFirst
                default: .insert(.random(in: 0..<30, using: &random))
                }
            },
            disagreement: { commands in
                var heap = Heap<Int>()
                var model: [Int] = []
                for command in commands {
                    switch command {
                    case .insert(let number):
                        heap.insert(number)
                        model.append(number)
                        model.sort()
                    case .popFirst:
                        let expected = model.isEmpty ? nil : model.removeFirst()
                        if heap.popFirst() != expected { return "popFirst" }
                    case .dropMultiples(let divisor):
                        heap.keep { $0 % divisor != 0 }
                        model.removeAll { $0 % divisor == 0 }
                    }
                    if heap.count != model.count { return "count \(heap.count)" }
                    if heap.first != model.first { return "first \(heap.first ?? -1)" }
                }
                while let number = heap.popFirst() {
                    if model.isEmpty || model.removeFirst() != number { return "order" }
                }
                return model.isEmpty ? nil : "\(model.count) are lost"
            })
        try check.check(seeds: 0..<1_000)
    }
}
