import Manifest
import Testing

@testable import Orchestrator

@Suite("the budget of a container's first process", .timeLimit(.minutes(1)))
struct ExitBudgetTests {
    private func budget(_ settings: String, pid: Int32) throws -> Duration {
        let text = settings + "services: {a: {command: [x]}}\n"
        return try loadProject(text: Array(text.utf8), file: "/project/o.yaml", environment: [:])
            .project.withBudgetOfItsPlace(pid: pid).exitBudget
    }

    @Test("9 s as PID 1, unless the config names a budget")
    func budgets() throws {
        #expect(try budget("", pid: 1) == .seconds(9))
        #expect(try budget("", pid: 2) == .seconds(30))
        #expect(try budget("exitBudget: 30s\n", pid: 1) == .seconds(30))
        #expect(try budget("exitBudget: 45s\n", pid: 1) == .seconds(45))
        #expect(try budget("exitBudget: 2s\n", pid: 2) == .seconds(2))
    }
}
