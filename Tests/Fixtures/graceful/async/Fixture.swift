import Glibc
import Stoic

/// What the three programs run: a service that says when it is up and when it stops. The first
/// argument chooses how it misbehaves.
enum Fixture {
    static let key = ServiceKey<Int>("service")
    static let mode = CommandLine.arguments.dropFirst().first ?? "good"
    static let budget: Duration = ["blocks", "starves"].contains(mode) ? .seconds(1) : .seconds(20)

    static func graph() throws -> ServiceGraph {
        try ServiceGraph(label: "fixture") {
            Provide(key) { _ in
                try await start()
                return 1
            } stop: { _, exit in
                say("stopping \(exit)")
                switch mode {
                case "hangs": try await Ambient.current.clock.sleep(for: .seconds(1_000))
                case "blocks": while true { usleep(100_000) }
                default: break
                }
                say("stopped")
            }
        }
    }

    private static func start() async throws {
        guard mode == "slow-start" else { return }
        say("starting")
        do {
            try await Ambient.current.clock.sleep(for: .seconds(1_000))
        } catch {
            say("start cancelled: \(Cancellation.cause?.description ?? "none")")
            throw error
        }
    }

    static func body(_ services: Services) async throws {
        say("up")
        if mode == "fails" { throw Failed() }
        if mode == "starves" {
            // More of these than there are threads: nothing of the pool runs any more.
            await withTaskGroup { group in
                for _ in 0..<64 { group.addTask { while true { usleep(100_000) } } }
            }
        }
        do {
            try await Ambient.current.clock.sleep(for: .seconds(1_000))
        } catch {
            // Being asked to end is no failure.
            say("cause \(Cancellation.cause?.description ?? "none")")
        }
    }

    struct Failed: Error {}

    /// One line on standard output, at once.
    static func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe write(1, $0.baseAddress, $0.count) }
    }
}
