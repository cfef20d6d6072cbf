/// A place for at most one piece of work: a search while the user types, a refresh, a save.
///
/// New work finds the old one there and, by its policy, replaces it, is refused, or joins it. The
/// slot owns its work, not the caller: it cancels it, and waits for its end before the next begins.
/// When the slot is closed, or nobody holds it any more, its work is cancelled.
///
/// ```swift
/// let search = WorkSlot<[Hit]>("search")
/// let hits = try await search.run(.replace) { try await index.find("shoes") }
/// ```
public final class WorkSlot<Value: Sendable>: Sendable {
    /// What becomes of new work while the slot is taken. Without work in the slot it just runs.
    public enum Policy: Hashable, Sendable {
        /// The old work is cancelled, and the new one runs after its end. Of several that wait to
        /// replace, the newest runs.
        case replace
        /// The new work is refused.
        case keep
        /// The new work is dropped, and whoever brought it gets the result of the old one.
        case join
    }

    private let core: SlotCore<Value>

    /// An empty slot.
    /// - Parameters:
    ///   - label: What its work is called in events.
    ///   - endingWithin: How long work may take to end after its cancellation. Then it is left
    ///     behind, counted and reported, and what comes after it runs.
    ///   - clock: Whose time counts; the ambient clock unless given.
    public init(
        _ label: String, endingWithin: Duration = .seconds(5), clock: (any Clock<Duration>)? = nil
    ) {
        core = SlotCore(label, bound: endingWithin, clock: clock.map { AnyClock($0) })
    }

    deinit { core.close() }

    /// Whether work is in the slot, also work that is cancelled and has not ended.
    public var isTaken: Bool { core.isTaken }

    /// Runs `work` in the slot, and returns its value.
    ///
    /// A caller that is cancelled leaves; when the last one leaves, the work is cancelled.
    /// - Parameters:
    ///   - policy: What happens if the slot is taken.
    ///   - work: What runs in a task of the slot's, without the caller's deadline.
    /// - Throws: `PolicyError<any Error>`: `.rejected(.bulkheadFull)` if the slot is taken and
    ///   `policy` is `.keep`, `.rejected(.shuttingDown)` if it is closed, `.failed` with the work's
    ///   error; `CancellationError` if the work was replaced or cancelled, whatever it returned, or
    ///   the caller was cancelled.
    public nonisolated(nonsending) func run(
        _ policy: Policy, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try Task.checkCancellation()
        let piece = try core.enter(policy, SlotPiece(core.label, core.clock, work, waiters: 1))
        let result = await piece.outcome.wait(for: Site("the work of a slot"))
        core.leave(piece)
        switch result {
        case .success(let value): return value
        case .failure(let error): throw PolicyError<any Error>.passing(error)
        case nil: throw CancellationError()
        }
    }

    /// Puts `work` into the slot and does not wait for it; for code that cannot wait. Its failure
    /// is reported, as nobody else hears of it.
    /// - Returns: Whether the work was taken, or joined what is there.
    @discardableResult
    public func start(
        _ policy: Policy, _ work: @escaping @Sendable () async throws -> Value
    ) -> Bool {
        do {
            _ = try core.enter(policy, SlotPiece(core.label, core.clock, work, waiters: nil))
            return true
        } catch {
            return false
        }
    }

    /// Cancels the work in the slot and waits for its end, at most as long as the slot's bound.
    /// Whatever comes later is refused.
    public nonisolated(nonsending) func close() async {
        core.close()
        await core.waitForEnd()
    }
}

extension EventName {
    /// Work in a slot was cancelled for newer work. Field: `label`.
    public static let slotReplaced = EventName("slot.replaced")
    /// Work was not run: newer work came before it began. Field: `label`.
    public static let slotSuperseded = EventName("slot.superseded")
    /// Work was refused. Fields: `label`, `reason`: `taken` or `closed`.
    public static let slotRefused = EventName("slot.refused")
    /// Work was dropped, and its caller waits for what is in the slot. Field: `label`.
    public static let slotJoined = EventName("slot.joined")
    /// Everybody who waited for the work has left, and it was cancelled. Field: `label`.
    public static let slotDeserted = EventName("slot.deserted")
    /// Work failed and nobody waits for it any more. Fields: `label`, `error`.
    public static let slotFailed = EventName("slot.failed")
    /// A slot was closed, with work in it. Field: `label`.
    public static let slotClosed = EventName("slot.closed")
}
