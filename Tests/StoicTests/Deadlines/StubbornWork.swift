@testable import Stoic

/// Takes `duration` on the ambient clock, whatever happens to its task.
func workStubbornly(_ duration: Duration) async {
    await shielded { _ = await Deadline.in(duration).sleep() }
}

/// Takes `duration` on the ambient clock, or ends with `CancellationError`.
func workPolitely(_ duration: Duration) async throws {
    try await Ambient.current.clock.sleep(for: duration)
}

struct OwnError: Error, Hashable { var number = 7 }

/// How a call under a policy ended, to compare with.
enum Outcome: Equatable {
    case value(Int)
    case rejected(Rejection)
    case failed(OwnError)
    case exceeded(DeadlineExceeded)
    case cancelled
    case other(String)

    static func failed(_ error: DeadlineExceeded) -> Outcome { .exceeded(error) }
}

/// How `body` ends.
nonisolated(nonsending) func outcome(
    _ body: nonisolated(nonsending) () async throws -> Int
) async -> Outcome {
    do {
        return .value(try await body())
    } catch PolicyError<any Error>.failed(let error as OwnError) {
        return .failed(error)
    } catch PolicyError<any Error>.failed(let error as DeadlineExceeded) {
        return .exceeded(error)
    } catch is CancellationError {
        return .cancelled
    } catch {
        if let rejection = Rejection(in: error) { return .rejected(rejection) }
        return .other(String(describing: error))
    }
}
