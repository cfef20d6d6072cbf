import StoicTesting
import Testing

@testable import Stoic

/// What a breaker counts, and what it leaves alone.
@Suite("CircuitBreaker, counting", .timeLimit(.minutes(5)))
struct BreakerCountingTests {
    /// Errors, and whether ten of them open a breaker that counts all but bad requests.
    static let errors: [(any Error & Sendable, Bool)] = [
        (Ill(), true),
        (DeadlineExceeded(limit: .seconds(1)), true),
        (PolicyError<Ill>.failed(Ill()), true),
        (PolicyError<Ill>.rejected(.abandoned), true),
        (BadRequest(), false),
        (Slip(), false),
        (CancellationError(), false),
        (PolicyError<any Error>.failed(BadRequest()), false),
        (PolicyError<Ill>.rejected(.bulkheadFull), false),
        (PolicyError<Ill>.rejected(.rateLimited(retryAfter: .zero)), false),
        (PolicyError<Ill>.rejected(.deadlinePassed), false),
    ]

    @Test("BRK-8: only what the dependency did wrong counts", arguments: errors.indices)
    func counts(_ row: Int) async throws {
        let (error, opens) = Self.errors[row]
        try await simulate { world in
            let breaker = CircuitBreaker(
                "db",
                countsAsFailure: {
                    !($0 is BadRequest) && !($0 is any Defect)
                })
            for _ in 0..<10 { #expect(await breaker.word { throw error } != "refused") }
            #expect((breaker.phase != .closed) == opens)
            #expect(world.events.names == (opens ? ["breaker.opened"] : []))
        }
    }

    @Test("BRK-9: a call slower than slowCall counts as failed although it succeeded")
    func slow() async throws {
        try await simulate { world in
            var settings = CircuitBreaker.Settings()
            settings.slowCall = .seconds(1)
            let breaker = CircuitBreaker("db", settings)
            for _ in 0..<10 {
                let word = await breaker.word {
                    try await world.clock.sleep(for: .seconds(1))
                    return 1
                }
                #expect(word == "value")
            }
            #expect(breaker.phase != .closed)
            #expect(world.events.names == ["breaker.opened"])
        }
    }

    @Test("BRK-10: a permit that is dropped tells nothing, and is back")
    func dropped() async throws {
        try await simulate { world in
            let breaker = CircuitBreaker("db")
            for _ in 0..<20 { _ = try breaker.admit() }
            #expect(breaker.phase == .closed)
            for _ in 0..<10 { try breaker.admit().fail() }
            try await world.clock.sleep(for: .seconds(10))
            _ = try breaker.admit()
            for _ in 0..<3 { try breaker.admit().succeed() }
            #expect(breaker.phase == .closed)
            #expect(
                world.events.names == ["breaker.opened", "breaker.halfOpened", "breaker.closed"])
        }
    }
}
