import StoicTesting

@testable import Stoic

/// Services that only say what happens to them.
struct GraphFixture: Sendable {
    let log = Log()
    let world: SimulatedWorld

    static let a = ServiceKey<Int>("a")
    static let b = ServiceKey<Int>("b")
    static let c = ServiceKey<Int>("c")
    static let d = ServiceKey<Int>("d")

    /// A service that takes `seconds` to start and as long to stop.
    func service(
        _ key: ServiceKey<Int>, needs: [ServiceKey<Int>] = [], takes seconds: Int = 1
    ) -> Provide {
        Provide(key, needs: needs.map(\.any)) { _ in
            log.note("start \(key.name)")
            do { try await world.clock.sleep(for: .seconds(seconds)) } catch {
                log.note("cancelled \(key.name): \(Cancellation.cause?.description ?? "none")")
                throw error
            }
            log.note("up \(key.name)")
            return seconds
        } stop: { _, exit in
            log.note("stop \(key.name): \(exit.summary)")
            try await world.clock.sleep(for: .seconds(seconds))
            log.note("down \(key.name)")
        }
    }

    /// A service whose start ends like this, after a second.
    func failing(_ key: ServiceKey<Int>, needs: [ServiceKey<Int>] = [], _ error: any Error)
        -> Provide
    {
        Provide(key, needs: needs.map(\.any)) { _ in
            try await world.clock.sleep(for: .seconds(1))
            throw error
        } stop: { _, _ in
            log.note("stop \(key.name)")
        }
    }
}

extension ServiceGraphError {
    /// The payload of a failed start.
    var startFailure: StartFailure? {
        guard case .startFailed(let failure) = self else { return nil }
        return failure
    }
}

/// Runs what should fail, and gives back its error.
func failure<E: Error>(
    of type: E.Type = E.self, _ work: () async throws -> Void
) async throws -> E? {
    do {
        try await work()
        return nil
    } catch let error as E {
        return error
    }
}
