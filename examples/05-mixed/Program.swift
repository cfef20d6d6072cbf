import Glibc
import Stoic
import StoicProcess
import StoicSubprocess

/// One graph that holds services of this process and a helper daemon, a process of its own.
@main struct Program {
    static let journal = ServiceKey<Journal>("journal")
    static let timed = ServiceKey<ChildProcess>("timed")
    static let clock = ServiceKey<ClockClient>("clock")

    static func main() async {
        let options: Options
        do { options = try Options(CommandLine.arguments.dropFirst()) } catch {
            complain("\(error)\n\(Options.usage)")
            exit(64)
        }
        let graph: ServiceGraph
        do { graph = try Self.graph(options) } catch {
            complain("cannot build the graph: \(error)")
            exit(70)
        }
        if options.isExplained { return say(graph.explain.text) }
        await GracefulTermination.runToExit(
            graph, exitBudget: .seconds(15),
            // Every decision on standard error; the default is notices and worse.
            ambient: { $0.instrumentation = StandardErrorSink(from: .info) }
        ) { services in
            try await body(services, options)
        }
    }

    private static func body(_ services: Services, _ options: Options) async throws {
        try await services[clock].ask()
        say("up: pid \(services[timed].pid) tells the time")
        if options.kills { kill(services[timed].pid, SIGKILL) }
        guard let limit = options.limit else {
            return say("ending: \(await Cancellation.wait())")
        }
        await withDeadline(.in(limit)) { say("ending: \(await Cancellation.wait())") }
    }

    private static func graph(_ options: Options) throws(ServiceGraphError) -> ServiceGraph {
        try ServiceGraph(label: "mixed") {
            // In this process.
            Provide(journal) { _ in
                Journal()
            } stop: { journal, _ in
                journal.close()
            }
            // A process of its own: it is launched, says READY with the address it listens on, and
            // is asked to stop on its control channel. When it dies, the graph stops.
            Provide.process(timed, needs: [journal.any], stopTimeout: .seconds(5)) { services in
                services[journal].note("launching \(options.daemon)")
                var command = ProcessCommand([options.daemon], ready: .notify)
                command.hasControlChannel = true
                return command
            }
            // In this process again, and a client of the daemon.
            Provide(clock, needs: [journal.any, timed.any]) { services in
                try ClockClient(services[timed], services[journal])
            } stop: { clock, _ in
                clock.close()
            }
        }
    }
}
