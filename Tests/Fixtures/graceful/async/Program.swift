import Stoic
import StoicProcess

/// A graph ended by signals, from a `main` that is async.
@main struct Program {
    static func main() async throws {
        let graph = try Fixture.graph()
        await GracefulTermination.runToExit(graph, exitBudget: Fixture.budget) { services in
            try await Fixture.body(services)
        }
    }
}
