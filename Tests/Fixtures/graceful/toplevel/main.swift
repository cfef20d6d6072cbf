import Stoic
import StoicProcess

// A graph ended by signals, from top-level code.
let graph = try Fixture.graph()
try await GracefulTermination.run(graph, exitBudget: Fixture.budget) { services in
    try await Fixture.body(services)
}
