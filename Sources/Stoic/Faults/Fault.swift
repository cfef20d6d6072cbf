import Synchronization

/// Places where a test can make code fail that hardly ever fails by itself.
///
/// ```swift
/// func save() throws {
///     try Fault.point("settings.rename")
///     reload()
/// }
/// ```
/// A test arms a place with `withFaults` of `StoicTesting`. Where no test has armed anything, a
/// place costs one load of a counter.
public enum Fault {
    /// Throws what the test around the current task has armed at this place; nothing otherwise.
    /// - Parameter name: `noun.verb` words that name the place; one name may stand in many places.
    public static func point(_ name: StaticString) throws {
        if let error = FaultPlan.error(at: name) { throw error }
    }

    /// The same for code whose errors have one type.
    /// - Precondition: What is armed here is an error of that type.
    public static func point<E: Error>(_ name: StaticString, throwing type: E.Type) throws(E) {
        guard let error = FaultPlan.error(at: name) else { return }
        guard let own = error as? E else {
            preconditionFailure("\(name) cannot throw what it is armed with: \(error)")
        }
        throw own
    }
}

/// What a test has armed, and how often each place was reached since.
package final class FaultPlan: Sendable {
    /// Which calls of a place fail, and how.
    package struct Rule: Sendable {
        let name: String
        let fails: @Sendable (Int) -> Bool
        let error: any Error

        /// - Parameters:
        ///   - name: The place.
        ///   - fails: Whether the call of this number fails; the first is 1.
        ///   - error: What it throws.
        package init(_ name: String, fails: @escaping @Sendable (Int) -> Bool, error: any Error) {
            self.name = name
            self.fails = fails
            self.error = error
        }
    }

    @TaskLocal private static var current: FaultPlan?
    private static let armed = Atomic<Int>(0)

    private let rules: [Rule]
    private let outer: FaultPlan?
    private let calls = Mutex<[String: Int]>([:])

    /// A plan inside of the one around the current task, whose rules go on.
    package init(_ rules: [Rule]) {
        self.rules = rules
        outer = Self.current
    }

    fileprivate static func error(at name: StaticString) -> (any Error)? {
        guard armed.load(ordering: .relaxed) > 0, let plan = current else { return nil }
        return plan.reached("\(name)")
    }

    /// How often each place was reached.
    package var counts: [String: Int] { calls.withLock { $0 } }

    /// Runs `body` with what is armed.
    package nonisolated(nonsending) func arm<R>(
        _ body: nonisolated(nonsending) () async throws -> R
    ) async throws -> R {
        Self.armed.add(1, ordering: .relaxed)
        defer { Self.armed.subtract(1, ordering: .relaxed) }
        return try await bound(body)
    }

    private func bound<R>(
        isolation: isolated (any Actor)? = #isolation,
        _ body: nonisolated(nonsending) () async throws -> R
    ) async throws -> R {
        try await Self.$current.withValue(self) {
            _ = isolation
            return try await body()
        }
    }

    private func reached(_ name: String) -> (any Error)? {
        let call = calls.withLock { calls in
            calls[name, default: 0] += 1
            return calls[name, default: 0]
        }
        let own = rules.first { $0.name == name && $0.fails(call) }?.error
        return own ?? outer?.reached(name)
    }
}
