import StoicTesting
import Synchronization

@testable import Stoic

/// Runs `body` in two hundred worlds, each with an order of its own, and in more where the
/// environment says so.
func inManyWorlds(
    _ count: Int = 200, under orders: [SimulatedOrder] = SimulatedOrder.portfolio,
    _ body: @escaping @Sendable (SimulatedWorld) async throws -> Void
) async throws {
    try await explore(seeds: (count + orders.count - 1) / orders.count, under: orders, body)
}

/// The same, where what is claimed is about moments: no timer is late.
func inPunctualWorlds(
    _ count: Int = 200, _ body: @escaping @Sendable (SimulatedWorld) async throws -> Void
) async throws {
    try await inManyWorlds(count, under: SimulatedOrder.punctual, body)
}

extension SimulatedWorld {
    /// Whether no timer overtakes work that is ready: what is claimed of moments holds only then.
    var isPunctual: Bool {
        switch order {
        case .firstComeFirstServed, .uniform, .pct: true
        case .earlyTimers: false
        case .picks(let picks): !picks.values.contains(.timer)
        }
    }

    /// Takes `duration` and does not care who is cancelled.
    nonisolated(nonsending) func ignoringCancellation(_ duration: Duration) async {
        await shielded {
            do { try await clock.sleep(for: duration) } catch { return }
        }
    }

    /// The details of the events of one name.
    func details(_ name: EventName, _ key: String) -> [Event.Value?] {
        events.events.filter { $0.name == name }.map { event in
            event.fields.first { $0.key == key }?.value
        }
    }
}

/// The error that comes out of `body`, if one does.
nonisolated(nonsending) func failure(
    of body: nonisolated(nonsending) () async throws -> Void
) async -> (any Error)? {
    do {
        try await body()
        return nil
    } catch { return error }
}

/// Counts how many of something live at once, and how many there were.
final class Census: Sendable {
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
