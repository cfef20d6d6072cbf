import StoicTesting
import Testing

@testable import Stoic

// Not static members of the suite: the compiler (6.3.1) crashes on `Self.member` where a closure
// passes it to a parameter that is `nonisolated(nonsending)`.
private func named() async throws(Ill) -> Int { throw Ill() }
private func refused() async throws(PolicyError<Ill>) -> Int { throw .rejected(.shuttingDown) }
private func failed() async throws(PolicyError<Ill>) -> Int { throw .failed(Ill()) }

/// Policies in policies, and what an operation looks like: the error has one layer.
@Suite("Policies, one layer", .timeLimit(.minutes(5)))
struct OneLayerTests {
    /// Runs `operation` within every policy.
    static func nested<R, E: Error>(
        _ operation: () async throws(E) -> R
    ) async throws -> R {
        let bulkhead = Bulkhead(limit: 1)
        let limiter = RateLimiter(rate: 1, per: .seconds(1), burst: 1)
        let breaker = CircuitBreaker("db")
        return try await Pipeline().deadline(.seconds(9)).bulkhead(Bulkhead(limit: 1)).run {
            try await bulkhead.run {
                try await limiter.run {
                    try await breaker.run {
                        try await Timeout(.seconds(1)).run { () async throws(E) -> R in
                            try await operation()
                        }
                    }
                }
            }
        }
    }

    /// The error's type and content, in words.
    static func error<R, E: Error>(_ operation: () async throws(E) -> R) async -> String {
        do { return "value \(try await nested(operation))" } catch {
            return "\(type(of: error)): \(error)"
        }
    }

    private static func thrown(_ call: () async throws -> Int) async -> String {
        do { return "value \(try await call())" } catch {
            return "\(type(of: error)): \(error)"
        }
    }

    @Test("PIP-1: plain, named and annotated closures, and errors of policies, have one layer")
    func oneLayer() async throws {
        try await simulate { world in
            let plain = await Self.error { try await named() }
            #expect(plain == "PolicyError<Error>: failed(StoicTests.Ill())")
            let long = await Self.error {
                await Task.yield()
                return try await named()
            }
            #expect(long == plain)
            let typed = await Self.error(named)
            #expect(typed == "PolicyError<Ill>: failed(StoicTests.Ill())")
            let annotated = await Self.error { () async throws(Ill) -> Int in
                try await named()
            }
            #expect(annotated == typed)
            #expect(await Self.error(failed) == typed)
            #expect(
                await Self.error(refused)
                    == "PolicyError<Ill>: rejected(Stoic.Rejection.shuttingDown)")
            #expect(
                await Self.error { () async throws(CancellationError) in
                    throw CancellationError()
                } == "CancellationError: CancellationError()")
            #expect(world.events.names.isEmpty)
        }
    }

    @Test("PIP-1: what the outer policy refuses has the type of the innermost operation")
    func refusals() async throws {
        try await simulate { world in
            let bulkhead = Bulkhead(limit: 1, queue: 0)
            let breaker = PipelineTests.touchy()
            try breaker.admit().fail()
            let pipeline = Pipeline().deadline(.seconds(1)).bulkhead(bulkhead).breaker(breaker)
            let words: [String] = try await bulkhead.run { () async throws -> [String] in
                [
                    await Self.thrown { try await pipeline.run(named) },
                    await Self.thrown { try await bulkhead.run(failed) },
                    await Self.thrown {
                        try await bulkhead.run { try await breaker.run(named) }
                    },
                ]
            }
            let full = "rejected(Stoic.Rejection.bulkheadFull)"
            let expected = [
                "PolicyError<Ill>: \(full)", "PolicyError<Ill>: \(full)",
                "PolicyError<Error>: \(full)",
            ]
            #expect(words == expected)
            let names = ["breaker.opened"] + Array(repeating: "bulkhead.rejected", count: 3)
            #expect(world.events.names == names)
        }
    }
}
