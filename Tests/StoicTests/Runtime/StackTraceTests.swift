import Runtime
import Testing

@testable import Stoic

/// Direct style: the program is called by what it called, whatever primitives lie between.
@Suite("A stack trace", .timeLimit(.minutes(5)))
struct StackTraceTests {
    @Test("goes through five primitives within each other, also after the innermost was suspended")
    func throughPrimitives() async throws {
        let bulkhead = Bulkhead(limit: 1)
        let breaker = CircuitBreaker("b")
        let limiter = RateLimiter(rate: 1, per: .seconds(1), burst: 1)
        let names = try await withAmbient {
            $0.instrumentation = SilentInstrumentation()
        } operation: {
            try await retry { _ in
                try await bulkhead.run {
                    try await breaker.run { try await limiter.run { try await innermost() } }
                }
            }
        }
        // From the inside to the outside, and each as a person wrote it.
        var rest = names[...]
        let path = [
            "innermost", "RateLimiter.run", "CircuitBreaker.run", "Bulkhead.run", "retry",
            "withAmbient", "throughPrimitives",
        ]
        for part in path {
            let place = rest.firstIndex { $0.contains(part) }
            #expect(place != nil, "\(part) is not in \(names)")
            rest = rest.suffix(from: place ?? rest.startIndex)
        }
    }

    private func innermost() async throws -> [String] {
        await Task.yield()
        let trace = try Backtrace.capture()
        let frames = try #require(trace.symbolicated()?.frames)
        return frames.compactMap { $0.symbol?.name }
    }
}
