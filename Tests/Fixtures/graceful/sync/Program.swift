import Stoic
import StoicProcess

/// A graph ended by signals, from a `main` that is not async.
@main struct Program {
    static func main() throws {
        let graph = try Fixture.graph()
        GracefulTermination.runToExit(blocking: graph, exitBudget: Fixture.budget) { services in
            try await Fixture.body(services)
        }
    }
}
