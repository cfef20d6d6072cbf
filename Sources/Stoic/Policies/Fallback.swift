/// Gives another value where an operation has none: the last known one, a default, a second source.
///
/// Never after a defect, which must be seen, and never after cancellation: nobody waits for the
/// value any more.
///
/// ```swift
/// let cached = Fallback("search") { _ in lastHits }
/// let hits = try await cached.run { try await breaker.run { try await index.find("shoes") } }
/// ```
public struct Fallback<Value: Sendable>: Sendable {
    /// What it stands in for, in events.
    public let label: String
    private let applies: @Sendable (any Error) -> Bool
    private let substitute: @Sendable (any Error) async throws -> Value

    /// - Parameters:
    ///   - label: What it stands in for, in events.
    ///   - when: Which errors it stands in for; all unless given. It gets the operation's own
    ///     error, without the layers of policies, or the `PolicyError` of a refusal.
    ///   - substitute: Makes the other value, and gets the same error. Put a deadline inside if it
    ///     may take long.
    public init(
        _ label: String = "fallback", when: @escaping @Sendable (any Error) -> Bool = { _ in true },
        _ substitute: @escaping @Sendable (any Error) async throws -> Value
    ) {
        self.label = label
        applies = when
        self.substitute = substitute
    }

    /// Runs `operation`, and the substitute if it fails.
    ///
    /// - Parameter operation: Runs on the caller's actor.
    /// - Throws: `PolicyError<E>.failed` with what `operation` threw, if the substitute does not
    ///   apply or fails as well; then its own error is only reported. A `PolicyError` of a policy
    ///   within, and `CancellationError`, as they are.
    public nonisolated(nonsending) func run<E: Error>(
        _ operation: nonisolated(nonsending) () async throws(E) -> Value
    ) async throws -> Value {
        let failure: any Error
        do throws(E) { return try await operation() } catch {
            failure = PolicyError.passing(error)
        }
        guard !(failure is CancellationError), !Task.isCancelled else { throw failure }
        let reason = innermostError(failure)
        guard !Classifier.isDefect(reason) else {
            report(.fallbackRefused, .error, reason)
            throw failure
        }
        guard applies(reason) else { throw failure }
        do {
            let value = try await substitute(reason)
            report(.fallbackUsed, .notice, reason)
            return value
        } catch let error as CancellationError {
            throw error
        } catch {
            report(.fallbackFailed, .warning, error)
            throw failure
        }
    }

    private func report(_ name: EventName, _ level: Event.Level, _ error: any Error) {
        emit(name, level, [.init("label", label), .init("error", describing: error)])
    }
}

extension EventName {
    /// A substitute stood in for a failed operation. Fields: `label`, `error` (the operation's).
    public static let fallbackUsed = EventName("fallback.used")
    /// A substitute failed as well. Fields: `label`, `error` (the substitute's).
    public static let fallbackFailed = EventName("fallback.failed")
    /// An operation threw a defect, for which nothing stands in. Fields: `label`, `error`.
    public static let fallbackRefused = EventName("fallback.refused")
}
