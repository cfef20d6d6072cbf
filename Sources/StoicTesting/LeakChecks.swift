public import Stoic

/// Work that is still there when nothing should be.
public struct LeftBehind: Error, CustomStringConvertible {
    /// What is left, one thing to a line: tasks of the library, open scopes, sleepers, abandoned
    /// work.
    public let left: [String]
    /// What the work threw that left it, if it threw.
    public let thrown: (any Error)?

    public var description: String {
        let error = thrown.map { "\nand it threw: \($0)" } ?? ""
        return "something is left:" + left.map { "\n  " + $0 }.joined() + error
    }
}

/// How long a check waits for what is just ending, in real time. In a simulation no time passes.
private let mostRealWait = Duration.seconds(5)

/// Runs `body` and fails if any of the library's work outlives it: tasks, open scopes and, in a
/// simulation, anybody who sleeps that did not before.
///
/// ```swift
/// try await expectNoLeaks {
///     try await withScope("import") { (scope: borrowing Scope) in
///         scope.fork("progress") { await showProgress() }
///         try await store.refresh()
///     }
/// }
/// ```
/// In a simulation what can run runs first; in real time what is ending has five seconds.
/// - Throws: `LeftBehind`, with what `body` threw; else what `body` throws.
public nonisolated(nonsending) func expectNoLeaks<R>(
    _ body: nonisolated(nonsending) () async throws -> R
) async throws -> R {
    let live = LiveWork()
    let sleepers = SimulatedRun.current?.world.clock.sleeperCount ?? 0
    return try await live.watch {
        let result: Result<R, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        try await expectNone(after: result) {
            let now = SimulatedRun.current?.world.clock.sleeperCount ?? 0
            let more = now > sleepers ? ["\(now - sleepers) more sleep than before"] : []
            return live.remains + more
        }
        return try result.get()
    }
}

/// Runs `body` and fails if work that ignored its cancellation was left behind in it, and has not
/// ended by now.
/// - Throws: `LeftBehind`, with what `body` threw; else what `body` throws.
public nonisolated(nonsending) func expectNoAbandonedWork<R>(
    _ body: nonisolated(nonsending) () async throws -> R
) async throws -> R {
    let (result, left) = await countingAbandonedWork { try await body() }
    try await expectNone(after: result) {
        left() == 0 ? [] : ["\(left()) pieces of abandoned work"]
    }
    return try result.get()
}

/// Runs a graph for a test, and fails the test on anything left when it has ended, however it
/// ended: abandoned work, a task or a scope of the library. So the end of a test is an end of the
/// graph like any other.
///
/// ```swift
/// try await withGraph(graph) { _ in
///     let orders = try await store.read("orders")
///     #expect(orders.isEmpty)
/// }
/// ```
/// - Parameters:
///   - graph: The graph to run.
///   - exitBudget: As for `ServiceGraph.run`.
///   - stopTimeout: As for `ServiceGraph.run`.
///   - clock: As for `ServiceGraph.run`.
///   - body: Runs once everything has started.
/// - Throws: `LeftBehind`, with what `ServiceGraph.run` threw; else what that throws.
public nonisolated(nonsending) func withGraph<R>(
    _ graph: ServiceGraph, exitBudget: Duration = .seconds(30),
    stopTimeout: Duration = .seconds(10), clock: (any Clock<Duration>)? = nil,
    _ body: nonisolated(nonsending) (Services) async throws -> R
) async throws -> R {
    try await expectNoAbandonedWork {
        try await expectNoLeaks {
            try await graph.run(
                exitBudget: exitBudget, stopTimeout: stopTimeout, clock: clock
            ) { services in try await body(services) }
        }
    }
}

/// Fails unless `left` comes to nothing, also where the work itself has failed.
private nonisolated(nonsending) func expectNone<R>(
    after result: Result<R, any Error>, _ left: () -> [String]
) async throws {
    if let simulation = SimulatedRun.current {
        await simulation.world.settle()
    } else {
        let end = Deadline.in(mostRealWait, clock: .continuous)
        while !left().isEmpty, !end.hasPassed {
            do { try await end.clock.sleep(for: .milliseconds(1)) } catch { break }
        }
    }
    let rest = left()
    guard !rest.isEmpty else { return }
    guard case .failure(let error) = result else { throw LeftBehind(left: rest, thrown: nil) }
    // One check around another says all that is left, and the error that came first.
    let inner = error as? LeftBehind
    throw LeftBehind(left: (inner?.left ?? []) + rest, thrown: inner.map(\.thrown) ?? error)
}

extension LiveWork {
    /// Tasks and scopes that live, one to a line.
    fileprivate var remains: [String] {
        entries.compactMap { entry in
            let path = entry.path.isEmpty ? "" : " in " + entry.path.joined(separator: "/")
            switch entry.kind {
            case .task: return "\(entry.site)\(path)"
            case .scope: return "scope \"\(entry.label)\"\(path)"
            case .wait: return nil
            }
        }
    }
}
