import Stoic

/// A place that a test lets fail.
public struct ArmedFault: Sendable {
    /// Which calls of the place fail.
    public enum Calls: Hashable, Sendable {
        /// Every one.
        case always
        /// Only this one; the first is 1.
        case only(Int)
        /// This one and all after it.
        case from(Int)

        func contains(_ call: Int) -> Bool {
            switch self {
            case .always: true
            case .only(let number): call == number
            case .from(let number): call >= number
            }
        }
    }

    let rule: FaultPlan.Rule

    /// - Parameters:
    ///   - name: The place, as in `Fault.point`.
    ///   - calls: Which calls of it fail.
    ///   - error: What they throw.
    public init(_ name: String, _ calls: Calls = .always, throwing error: any Error) {
        rule = FaultPlan.Rule(name, fails: { calls.contains($0) }, error: error)
    }
}

/// Runs `body` with places that fail, for its task and all it starts; other tests see nothing of
/// it.
///
/// ```swift
/// let reached = try await withFaults(.init("store.rename", .only(1), throwing: Busy())) {
///     await #expect(throws: Busy.self) { try await store.save() }
///     try await store.save()
/// }
/// #expect(reached["store.rename"] == 2)
/// ```
/// - Returns: How often each place was reached, also those that are not armed: a loop over
///   `.only(1)`, `.only(2)` and so on up to that number has tried every call.
/// - Throws: What `body` throws.
@discardableResult
public nonisolated(nonsending) func withFaults(
    _ faults: ArmedFault..., in body: nonisolated(nonsending) () async throws -> Void
) async throws -> [String: Int] {
    let plan = FaultPlan(faults.map(\.rule))
    try await plan.arm { try await body() }
    return plan.counts
}
