import Stoic
import StoicProcess

/// A graph ended by signals, from a `main` that is async.
@main struct Program {
    static func main() async throws {
        let graph = try Fixture.graph()
        // What becomes of the start is what is looked at.
        let level: Event.Level = Fixture.mode == "slow-start" ? .info : .notice
        await GracefulTermination.runToExit(
            graph, exitBudget: Fixture.budget,
            ambient: { $0.instrumentation = StandardErrorSink(from: level) }
        ) { services in
            try await Fixture.body(services)
        }
    }
}
