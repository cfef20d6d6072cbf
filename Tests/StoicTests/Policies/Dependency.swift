import StoicTesting
import Synchronization

@testable import Stoic

/// What a dependency throws that is ill.
struct Ill: Error, Equatable {}
/// What a client did wrong.
struct BadRequest: Error, Equatable {}
/// A programming error.
struct Slip: Defect, Equatable {}

/// A dependency that does what it is told, and counts its calls.
final class Dependency: Sendable {
    private let count = Mutex(0)
    var calls: Int { count.withLock { $0 } }

    func succeed() async -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }

    func fail() async throws(Ill) -> Int {
        count.withLock { $0 += 1 }
        throw Ill()
    }
}

extension CircuitBreaker {
    /// Calls the dependency and says in a word what came of it.
    func word(_ operation: @Sendable () async throws -> Int) async -> String {
        do {
            _ = try await run { try await operation() }
            return "value"
        } catch {
            if case .breakerOpen? = Rejection(in: error) { return "refused" }
            return error is CancellationError ? "cancelled" : "failed"
        }
    }

    /// Fails until it opens, ten times.
    func trip(_ dependency: Dependency) async {
        for _ in 0..<10 { _ = await word { try await dependency.fail() } }
    }
}
