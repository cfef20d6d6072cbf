import Synchronization

@testable import Stoic

/// Runs `body` in several tasks at once, each with a random source of its own, and hears nothing of
/// what is decided meanwhile.
func atOnce(
    _ tasks: Int = 8, _ body: @escaping @Sendable (inout RandomSource) async -> Void
) async {
    await silently {
        await withTaskGroup { group in
            for seed in 0..<UInt64(tasks) {
                group.addTask {
                    var random = RandomSource.seeded(seed)
                    await body(&random)
                }
            }
        }
    }
}

/// Runs `body` without a sink.
nonisolated(nonsending) func silently<R, E: Error>(
    _ body: nonisolated(nonsending) () async throws(E) -> R
) async throws(E) -> R {
    try await withAmbient {
        $0.instrumentation = SilentInstrumentation()
    } operation: { () async throws(E) -> R in
        try await body()
    }
}

/// Lets others run, a few times.
func giveWay(_ most: Int, _ random: inout RandomSource) async {
    for _ in 0..<Int.random(in: 0...most, using: &random) { await Task.yield() }
}

/// Counts how many of something live at once, and how many there were.
final class Count: Sendable {
    private let counts = Mutex((now: 0, most: 0, total: 0))

    var now: Int { counts.withLock { $0.now } }
    var most: Int { counts.withLock { $0.most } }
    var total: Int { counts.withLock { $0.total } }

    func enter() {
        counts.withLock { counts in
            counts.now += 1
            counts.total += 1
            counts.most = max(counts.most, counts.now)
        }
    }

    func leave() { counts.withLock { $0.now -= 1 } }
}

/// The names of events of one level or worse.
final class Complaints: Instrumentation {
    let minimumLevel: Event.Level
    private let heard = Mutex<[String]>([])

    init(from level: Event.Level) { minimumLevel = level }

    var names: [String] { heard.withLock { $0 } }
    func record(_ event: Event) { heard.withLock { $0.append(event.name.text) } }
}
