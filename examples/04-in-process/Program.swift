import Glibc
import Stoic
import StoicProcess

/// Services in one process: what every app has, ended in every way an app ends.
@main struct Program {
    static func main() async {
        let options: Options
        do { options = try Options(CommandLine.arguments.dropFirst()) } catch {
            complain("\(error)\n\(Options.usage)")
            exit(64)
        }
        do {
            let app = try AppServices(options.faults)
            if options.isExplained { return try explain(app) }
            await run(app, options)
        } catch {
            complain("cannot build the graph: \(error)")
            exit(70)
        }
    }

    private static func run(_ app: AppServices, _ options: Options) async -> Never {
        await GracefulTermination.runToExit(
            app.graph, exitBudget: .seconds(15),
            // Every decision on standard error; a program that is not an example keeps the default,
            // notices and worse.
            ambient: { $0.instrumentation = StandardErrorSink(from: .info) }
        ) { services in
            guard let limit = options.limit else {
                return try await signIn(options.users, services, app.faults)
            }
            try await withDeadline(.in(limit)) {
                try await signIn(options.users, services, app.faults)
            }
        }
    }

    /// Nothing has started, and nothing will: a graph is checked and described without running.
    private static func explain(_ app: AppServices) throws {
        let user = try Session("ada", app.faults)
        for graph in [app.graph, user.graph] {
            say("\(graph.label):\n\(graph.explain.text)\n\n\(graph.explain.dot)\n")
        }
    }

    /// One user after the other. The app's services run on while a user's are stopped and the next
    /// one's are built.
    private static func signIn(
        _ users: [String], _ services: Services, _ faults: Faults
    ) async throws {
        for (index, user) in users.enumerated() {
            let session = try Session(user, faults, over: services)
            try await withScope("session") { (scope: borrowing Scope) in
                if index + 1 < users.count {
                    // Stands for the button that signs the user out.
                    scope.fork("sign-out button") {
                        try await Ambient.current.clock.sleep(for: .milliseconds(400))
                        session.signOut()
                    }
                }
                try await session.run()
            }
            // The program ends: nobody signs in any more.
            if Task.isCancelled { return }
        }
    }
}
