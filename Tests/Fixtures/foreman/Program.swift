// foreman: a graph of programs, for the tests of StoicSubprocess.
//
//   foreman [--start S] [--stop S] [--budget S] [--for S] [--control] [--started] [--quiet]
//           [--also SHELL] -- COMMAND… [-- COMMAND…]
//
// The second program needs the first. It says `up PID VALUES` when both are, and `ending CAUSE`.
import Glibc
import Stoic
import StoicProcess
import StoicSubprocess

@main struct Foreman {
    static let keys = ["first", "second"].map { ServiceKey<ChildProcess>($0) }

    static func main() async throws {
        let orders = Orders(CommandLine.arguments.dropFirst())
        let graph = try ServiceGraph(label: "foreman") {
            for (index, words) in orders.commands.enumerated() {
                Provide.process(
                    keys[index], needs: index == 0 ? [] : [keys[0].any],
                    startTimeout: orders.start, stopTimeout: orders.stop
                ) { _ in orders.command(words) }
            }
        }
        await GracefulTermination.runToExit(
            graph, exitBudget: orders.budget,
            ambient: { $0.instrumentation = StandardErrorSink(from: .info) }
        ) { services in
            try await body(services, orders)
        }
    }

    private static func body(_ services: Services, _ orders: Orders) async throws {
        for key in keys.prefix(orders.commands.count) {
            let child = services[key]
            let values = child.values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            say((["up \(key.name) \(child.pid)"] + values).joined(separator: " "))
        }
        say("all up")
        if let shell = orders.also { try await runBeside(shell) }
        guard let limit = orders.limit else {
            return say("ending \(await Cancellation.wait())")
        }
        await withDeadline(.in(limit)) { say("ending \(await Cancellation.wait())") }
    }

    /// A child that is made in another way, on the main thread, and waited for by whoever made it.
    private static func runBeside(_ shell: String) async throws {
        var child = pid_t()
        let words = ["/bin/sh", "-c", shell]
        var pointers = unsafe words.map { unsafe strdup($0) }
        unsafe pointers.append(nil)
        defer { unsafe pointers.forEach { unsafe free($0) } }
        guard unsafe posix_spawn(&child, words[0], nil, nil, pointers, environ) == 0 else {
            return say("beside: not started")
        }
        try await Ambient.current.clock.sleep(for: .milliseconds(300))
        var status: Int32 = 0
        let waited = unsafe waitpid(child, &status, 0)
        say("beside: \(waited == child ? "code \((status >> 8) & 0xFF)" : "error \(errno)")")
    }

    private static func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe write(1, $0.baseAddress, $0.count) }
    }
}

/// The command line. It comes from the tests, so nothing is checked.
struct Orders: Sendable {
    var start = Duration.seconds(10)
    var stop = Duration.seconds(5)
    var budget = Duration.seconds(15)
    var limit: Duration?
    var hasChannel = false
    var ready = ProcessCommand.Readiness.notify
    var output = ProcessCommand.Output.inherited
    var also: String?
    var commands: [[String]] = []

    init(_ words: some Sequence<String>) {
        var rest = Array(words)[...]
        while let word = rest.popFirst() {
            switch word {
            case "--start": start = Self.seconds(rest.popFirst())
            case "--stop": stop = Self.seconds(rest.popFirst())
            case "--budget": budget = Self.seconds(rest.popFirst())
            case "--for": limit = Self.seconds(rest.popFirst())
            case "--control": hasChannel = true
            case "--started": ready = .started
            case "--quiet": output = .discarded
            case "--also": also = rest.popFirst()
            default:
                commands.append(Array(rest.prefix { $0 != "--" }))
                rest = rest.drop { $0 != "--" }
            }
        }
    }

    func command(_ words: [String]) -> ProcessCommand {
        var command = ProcessCommand(words, ready: ready)
        command.inherits.insert("PLOG")
        command.hasControlChannel = hasChannel
        command.output = output
        return command
    }

    private static func seconds(_ word: String?) -> Duration {
        .seconds(word.flatMap { Double($0) } ?? 0)
    }
}
