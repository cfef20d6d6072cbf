import Stoic
import StoicTesting
import Testing

@Suite("model checks", .timeLimit(.minutes(1)))
struct ModelCheckTests {
    /// A counter that forgets to count up after it has counted down twice in a row.
    private static func disagreement(_ steps: [Int]) -> String? {
        var real = 0
        var model = 0
        var downs = 0
        for step in steps {
            model += step
            real += step > 0 && downs >= 2 ? 0 : step
            downs = step < 0 ? downs + 1 : 0
            if real != model { return "\(real) is not \(model)" }
        }
        return nil
    }

    private var check: ModelCheck<Int> {
        ModelCheck(
            command: { Bool.random(using: &$0) ? 1 : -1 }, disagreement: Self.disagreement)
    }

    @Test("TST-26: a thing that is not what its model says is found, with the fewest commands")
    func minimal() throws {
        let found = #expect(throws: Counterexample<Int>.self) {
            try check.check(seeds: 0..<50)
        }
        #expect(found?.commands == [-1, -1, 1])
        #expect(found?.description.contains("-2 is not -1\nseed") == true)
        try ModelCheck<Int>(command: { _ in 1 }, disagreement: { _ in nil }).check(seeds: 0..<50)
    }
}
