import Stoic
import StoicTesting
import Synchronization

/// An update that was lost: the fault planted in these tests.
struct LostUpdate: Error {}

/// A number that tasks share.
final class Cell: Sendable {
    private let number = Mutex(0)
    var value: Int {
        get { number.withLock { $0 } }
        set { number.withLock { $0 = newValue } }
    }
}

/// One task reads, gives way once, and writes; another adds in one step, but gives way first, so
/// often that it comes too late in the usual order.
@Sendable func losesAnUpdate(_ world: SimulatedWorld) async throws {
    let cell = Cell()
    await withTaskGroup { group in
        group.addTask {
            let before = cell.value
            await Task.yield()
            cell.value = before + 1
        }
        group.addTask {
            for _ in 0..<3 { await Task.yield() }
            cell.value += 1
        }
    }
    if cell.value != 2 { throw LostUpdate() }
}

/// Counts on it that what is ready runs before a second is over.
@Sendable func trustsTheTime(_ world: SimulatedWorld) async throws {
    let cell = Cell()
    try await withThrowingTaskGroup { group in
        group.addTask {
            for _ in 0..<3 { await Task.yield() }
            cell.value = 1
        }
        group.addTask {
            try await world.clock.sleep(for: .seconds(1))
            if cell.value != 1 { throw LostUpdate() }
        }
        try await group.waitForAll()
    }
}

/// What `explore` reports about `body`.
func failure(
    seeds: Int = 50, under portfolio: [SimulatedOrder] = SimulatedOrder.portfolio,
    _ body: @escaping @Sendable (SimulatedWorld) async throws -> Void
) async -> SimulatedFailure? {
    do {
        try await explore(seeds: seeds, under: portfolio, body)
        return nil
    } catch let failure as SimulatedFailure {
        return failure
    } catch {
        return nil
    }
}

/// The error that comes out of `body`, if one does.
nonisolated(nonsending) func thrown<E: Error>(
    _ type: E.Type, _ body: nonisolated(nonsending) () async throws -> Void
) async throws -> E? {
    do { try await body() } catch let error as E { return error }
    return nil
}
